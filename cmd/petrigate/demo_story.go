package main

import (
	"fmt"
	"strings"
)

// A demoChapter is a rule and what the agent does about it.
type demoChapter struct {
	title string
	steps []demoStep
}

// A demoStep is one call, and what has to come of it.
type demoStep struct {
	note       string // said before it; may be empty
	tool, args string
	answer     demoAnswer // of the person; zero: nobody must be asked
	want       demoOutcome
	text       string // is in the reply
}

type demoOutcome string

const (
	demoPassed  demoOutcome = "passed"
	demoFailed  demoOutcome = "failed" // the tool ran and said so
	demoRefused demoOutcome = "refused"
)

func demoStory() []demoChapter {
	return []demoChapter{
		{"No delete without a backup", []demoStep{
			{tool: "delete", args: `{"path":"notes.txt"}`, want: demoRefused, text: "delete requires a successful call to backup first."},
			{tool: "backup", args: `{"path":"notes.txt","fail":true}`, want: demoFailed, text: "the disk is full"},
			{note: "A backup that failed unlocks nothing.",
				tool: "delete", args: `{"path":"notes.txt"}`, want: demoRefused, text: "delete requires a successful call to backup first."},
			{tool: "backup", args: `{"path":"notes.txt"}`, want: demoPassed, text: "backed up notes.txt"},
			{tool: "delete", args: `{"path":"notes.txt"}`, want: demoPassed, text: "deleted notes.txt"},
			{note: "One backup, one delete.",
				tool: "delete", args: `{"path":"report.md"}`, want: demoRefused, text: "delete requires a successful call to backup first."},
		}},
		{"A limit runs out", []demoStep{
			{tool: "push", args: `{"branch":"fix"}`, want: demoPassed, text: "push number 1"},
			{tool: "push", args: `{"branch":"fix"}`, want: demoPassed, text: "push number 2"},
			{tool: "push", args: `{"branch":"fix"}`, want: demoRefused, text: "push has reached its limit of 2 calls per session."},
		}},
		{"The shell is open, rm is not", []demoStep{
			{tool: "bash", args: `{"command":"echo hello"}`, want: demoPassed, text: "hello"},
			{tool: "bash", args: `{"command":"rm -rf report.md"}`, want: demoRefused, text: "rm is blocked and cannot be called."},
			{tool: "bash", args: `{"command":"echo tidying && sudo rm report.md"}`, want: demoRefused, text: "rm is blocked and cannot be called."},
			{note: "The file is still there.",
				tool: "bash", args: `{"command":"cat report.md"}`, want: demoPassed, text: "Quarterly report"},
		}},
		{"A pipeline that cannot be skipped", []demoStep{
			{tool: "deploy", args: `{"env":"staging"}`, want: demoRefused, text: "The order is lint, test, build, deploy"},
			{tool: "lint", args: `{}`, want: demoPassed, text: "no problems"},
			{tool: "build", args: `{}`, want: demoRefused, text: "The order is lint, test, build, deploy"},
			{tool: "test", args: `{"fail":true}`, want: demoFailed, text: "1 of 42 tests failed"},
			{note: "Tests that failed lead nowhere.",
				tool: "build", args: `{}`, want: demoRefused, text: "The order is lint, test, build, deploy"},
			{tool: "test", args: `{}`, want: demoPassed, text: "42 tests passed"},
			{tool: "build", args: `{}`, want: demoPassed, text: "built version 1.0.1"},
		}},
		{"A person decides", []demoStep{
			{tool: "deploy", args: `{"env":"production"}`, answer: demoAnswer{"deny", "staging first"}, want: demoRefused, text: "staging first"},
			{note: "A denial costs nothing: the build still stands.",
				tool: "deploy", args: `{"env":"staging"}`, answer: demoAnswer{"approve", ""}, want: demoPassed, text: "deployed version 1.0.1 to staging"},
			{note: "One consent, one call. Now the pipeline is at its start, and nobody is even asked.",
				tool: "deploy", args: `{"env":"staging"}`, want: demoRefused, text: "The order is lint, test, build, deploy"},
		}},
	}
}

// play makes the call of a step and checks its reply.
func (s demoStep) play(a *demoAgent) (demoReply, error) {
	reply, err := a.call(s.tool, s.args)
	if err != nil {
		return reply, err
	}
	if got := reply.outcome(); got != s.want || !strings.Contains(reply.text, s.text) {
		return reply, fmt.Errorf("%s %s: expected %s with %q, got %s with %q", s.tool, s.args, s.want, s.text, got, reply.text)
	}
	return reply, nil
}

func (r demoReply) outcome() demoOutcome {
	switch {
	case r.refused:
		return demoRefused
	case r.failed:
		return demoFailed
	default:
		return demoPassed
	}
}
