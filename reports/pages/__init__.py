"""Pages: HTML that cannot be injected into."""
