"""What a prompt is: values in, text out. Pure; the order of the sections is `prompt.sections.SECTIONS`."""
