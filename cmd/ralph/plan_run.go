package main

import "errors"

type planRun struct{}

// Run implements ralph plan run.
func (c *planRun) Run() error { return errors.New("not written yet") }
