package report

import (
	"github.com/ralph-loop/ralph/internal/fake/sample"
)

func planRunning() View { return view(sample.PlanRunning()) }

func planCapped() View { return view(sample.PlanCapped()) }

func planHostile() View {
	v := view(sample.PlanHostile())
	v.Redact = Redactor(nil)
	return v
}

func planLarge(n int, text string) View { return view(sample.PlanLarge(n, text)) }
