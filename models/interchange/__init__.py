"""Other forms of a model: SpaceEx XML and canonical JSON."""
