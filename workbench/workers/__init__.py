"""Work that takes long, done in processes of their own: they can be ended at any moment, and have
only so much memory. The servers ask them (`crew`); what they do are the tasks of a module
(`process`), which work through the public API.

A request is a line of JSON on the process's input; lines of JSON come back: events of progress, and
at last a result or why there is none.
"""
