"""What `import workbench` gives: models that can be asked, and results that are values.

Nothing here prints, leaves the process or knows the command line.
"""
