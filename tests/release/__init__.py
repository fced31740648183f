"""What is released: the packages and the site. `make dist` and `make docs` run these."""
