"""Ways of deciding a property, one file each; `abstraction.verification` chooses among them."""
