"""Pictures: models, abstract graphs, regions and traces as SVG."""
