"""The catalogue spider; sites/ has one small file for each site."""
