package report

import (
	"fmt"

	"github.com/ralph-loop/ralph/internal/loop"
)

const whatNowIs = "**What now:** "

// whatNow says what the bot needs, from whom, and how to stop it or to go on. Nobody is mentioned by it.
func (v View) whatNow() string {
	s := v.State
	switch {
	case s.End == nil && v.local():
		return ""
	case s.End == nil:
		return "**To stop it:** comment " + v.command("stop") + ", close the issue, or take the label `ralph:running` off; what is done so far is kept."
	case v.local():
		return v.whatNowLocally()
	}
	if next := v.nextStep(); next != "" {
		return whatNowIs + next
	}
	return ""
}

// nextStep is what somebody has to do after an outcome; "" when nobody has.
func (v View) nextStep() string {
	s := v.State
	switch s.End.Outcome {
	case loop.Done:
		return v.afterDone()
	case loop.Invalid:
		if last := s.Last(); last != nil && last.Unfixable() != nil {
			return "put right what the sentence above names; then " + v.command("retry") + " goes on with the same work."
		}
		return "put right what the sentence above names, then " + v.command("run") + "."
	case loop.Waiting:
		return v.whileWaiting()
	case loop.Interrupted:
		return v.command("continue") + " goes on from here; " + v.command("retry --fresh") + " starts over."
	case loop.Budget:
		return v.moreBudget()
	case loop.Refused:
		return ""
	}
	return fmt.Sprintf("%s goes on from here, %s tells the agent more, %s starts over.",
		v.command("retry"), v.command("retry <hint>"), v.command("retry --fresh"))
}

func (v View) afterDone() string {
	if v.pull() == "" {
		return "nothing was left to change; " + v.command("retry <what is missing>") + " asks again."
	}
	return "review the pull request and merge it. To have something else, request changes in a review or comment " +
		v.command("fix") + " there, or " + v.command("retry <what to change>") + "."
}

// whileWaiting says what ends a wait: time, other workflows, or somebody's answer.
func (v View) whileWaiting() string {
	s := v.State
	switch {
	case s.End.ForPull:
		return "let ralph open pull requests, or open this one yourself. Then " + v.command("continue") + ", or the next sweep, goes on; the agent is not run again."
	case v.waitsForOthers():
		return "nothing; it goes on when they have finished. " + v.command("continue") + " looks at once."
	case !s.End.Until.IsZero():
		return "nothing; the next sweep after that goes on. " + v.command("continue") + " tries at once."
	case v.waitsForLimit(), v.waitsForReader(), v.waitsForModel():
		return v.command("continue") + " tries again."
	}
	who := "answer"
	if asked := v.code(s.Start.Asked, 60); asked != "" {
		who = asked + ", please answer"
	}
	return who + " with " + v.command("continue <answer>") + "."
}

// waitsForOthers reports whether the run waits for what other workflows say of its commit (B-08).
func (v View) waitsForOthers() bool {
	f := v.unanswered()
	return f != nil && !isReview(*f)
}

// waitsForReader reports whether it waits for a role that reads, whose model could not be asked.
func (v View) waitsForReader() bool {
	f := v.unanswered()
	return f != nil && isReview(*f)
}

// unanswered is the failure of the newest iteration when it is one that waits.
func (v View) unanswered() *loop.Verdict {
	it := v.judged()
	if it == nil || it != v.State.Last() || it.Failure() == nil || !it.Failure().Waits {
		return nil
	}
	return it.Failure()
}

// waitsForModel reports whether it waits because its model answered nothing.
func (v View) waitsForModel() bool {
	last := v.State.Last()
	return last != nil && last.Turn.Silent
}

func (v View) waitsForLimit() bool {
	last := v.State.Last()
	return last != nil && last.Turn.Class == loop.UsageLimit
}

func (v View) whatNowLocally() string {
	switch v.State.End.Outcome {
	case loop.Done:
		return whatNowIs + "read the change and merge the branch."
	case loop.Invalid:
		if last := v.State.Last(); last != nil && last.Unfixable() != nil {
			return whatNowIs + fmt.Sprintf("put right what the sentence above names; then `%s … --resume` goes on with the same work.", v.runs())
		}
		return whatNowIs + "put right what the sentence above names, and run it again."
	case loop.Refused:
		return ""
	}
	return whatNowIs + fmt.Sprintf("`%s … --resume` goes on from here, `--fresh` starts over.", v.runs())
}
