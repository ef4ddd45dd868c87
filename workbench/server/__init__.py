"""The workbench as a local web application: a project folder, its runs and its proofs in a page.

It knows the public facade (`workbench`, `workbench.api`) and nothing deeper. Whatever takes long
happens in worker processes, which can be killed; what they find is kept in the project's
`.workbench` folder.
"""
