"""Where runs begin: points of initial sets, thin ones included."""
