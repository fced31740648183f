# R with KernSmooth: a bandwidth, a density, or the level at order 2 as kutta2022 has it.
suppressMessages(library(KernSmooth))
arguments <- commandArgs(TRUE)
parameters <- readBin(file.path(arguments[1], "parameters"), "double", 5)
n <- parameters[5]
x <- readBin(file.path(arguments[1], "x"), "double", n)
y <- readBin(file.path(arguments[1], "y"), "double", n)
smooth <- function(values, h, ends) bkde(values, bandwidth = h, gridsize = parameters[4], range.x = ends)
renyi <- function() {
  ends <- range(x, y)
  p <- smooth(x, dpik(x)^1.1, ends)
  q <- smooth(y, dpik(y)^1.1, ends)
  tau <- 1e-5
  beta <- 1e5
  floored <- pmax(q$y, tau) + log1p(exp(-beta * abs(q$y - tau))) / beta
  log(sum(pmax(p$y, 0)^2 / floored) * (p$x[2] - p$x[1]))
}
spent <- system.time(answer <- switch(arguments[2],
  bandwidth = dpik(x),
  density = smooth(x, parameters[3], parameters[1:2])$y,
  renyi = renyi()
), gcFirst = FALSE)
used <- paste("R", getRversion(), "KernSmooth", packageVersion("KernSmooth"))
writeLines(used, file.path(arguments[1], "version"))
writeBin(c(spent[["user.self"]] + spent[["sys.self"]], answer), file.path(arguments[1], "answer"))
