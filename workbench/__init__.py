"""The application: command line and the one import a user needs."""
