package agent_test

import "github.com/ralph-loop/ralph/internal/loop"

// opencodeRecorded: what is told when it was killed is what its steps had cost so far.
var opencodeRecorded = map[string]outcome{
	"bad-flag":        {exit: 1, class: loop.Rejected},
	"bash-fails":      {exit: 0, class: loop.OK, text: wrote, usage: loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}, tools: 1, failed: 1},
	"bash":            {exit: 0, class: loop.OK, text: wrote, usage: loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}, tools: 1},
	"big-stdin-1m5":   {exit: 0, class: loop.OK, text: done, usage: loop.Usage{CostUSD: 0.0006, Input: 100, Output: 20}},
	"cut":             {exit: 1, class: loop.Network},
	"e400":            {exit: 1, class: loop.Rejected},
	"e401":            {exit: 1, class: loop.Auth},
	"e403":            {exit: 1, class: loop.Auth},
	"e429":            {exit: 1, class: loop.UsageLimit, resets: "2026-11-21T03:20:01Z"},
	"e429long":        {exit: -9, class: loop.Killed},
	"e529":            {exit: 1, class: loop.Overloaded},
	"empty-answer":    {exit: 0, class: loop.Empty, usage: loop.Usage{CostUSD: 0.0006, Input: 100, Output: 20}},
	"flaky429":        {exit: 0, class: loop.OK, text: wrote, usage: loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}, tools: 1},
	"flaky529":        {exit: 0, class: loop.OK, text: wrote, usage: loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}, tools: 1},
	"max-steps":       {exit: -9, class: loop.Killed, text: "once more", usage: loop.Usage{CostUSD: 0.005399999999999999, Input: 900, Output: 180}, tools: 10},
	"max-tokens":      {exit: 0, class: loop.MaxTurns, text: "an answer that ran out", usage: loop.Usage{CostUSD: 0.0006, Input: 100, Output: 20}},
	"refused-conn":    {exit: 1, class: loop.Network},
	"sigint-stream":   {exit: -2, class: loop.Killed},
	"sigterm-tool":    {exit: -15, class: loop.Killed, text: "sleeping"},
	"stdin-prompt":    {exit: 0, class: loop.OK, text: wrote, usage: loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}, tools: 1},
	"success-auto":    {exit: 0, class: loop.OK, text: wrote, usage: loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}, tools: 1},
	"success-nonroot": {exit: 0, class: loop.OK, text: wrote, usage: loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}, tools: 1},
	"success":         {exit: 0, class: loop.OK, text: wrote, usage: loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}, tools: 1},
	"text-only":       {exit: 0, class: loop.OK, text: done, usage: loop.Usage{CostUSD: 0.0006, Input: 100, Output: 20}},
	"two-tools":       {exit: 0, class: loop.OK, text: wrote, usage: loop.Usage{CostUSD: 0.0012, Input: 200, Output: 40}, tools: 2},
}
