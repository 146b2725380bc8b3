module github.com/ralph-loop/ralph/bench

go 1.26.8

require golang.org/x/tools v0.49.0
