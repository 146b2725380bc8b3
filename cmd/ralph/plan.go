package main

type planCommand struct {
	Run planRun `cmd:"" help:"Run the plan: implement, review and fix story by story until all of them are approved."`
}
