package github

// The labels that show where a run stands, behind the trigger label and a colon.
var StatusLabels = []string{LabelRunning, LabelReview, LabelWaiting, LabelFailed}

const (
	LabelRunning = "running"
	LabelReview  = "review"
	LabelWaiting = "waiting"
	LabelFailed  = "failed"
)
