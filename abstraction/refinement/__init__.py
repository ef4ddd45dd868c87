"""The refinement checker: a detailed system may replace a simple one, proved part by part."""
