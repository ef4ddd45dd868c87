"""The trusted checker: what may say VERIFIED."""
