package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/verify"
)

// A replayEvent is an event of a case, as eval reads it.
type replayEvent struct {
	Type    string          `json:"type"`
	ID      string          `json:"id,omitempty"`
	Tool    string          `json:"tool,omitempty"`
	Also    []string        `json:"also,omitempty"` // further names of the tool
	Args    json.RawMessage `json:"args,omitempty"`
	Approve bool            `json:"approve,omitempty"`
	Outcome string          `json:"outcome,omitempty"`
	For     string          `json:"for,omitempty"` // how long time passes
}

var outcomeNames = [...]string{gate.Unknown: "unknown", gate.Success: "success", gate.Failure: "failure"}

// replayed are the events of a run, in which a person consents whenever asked.
func replayed(t verify.Trace) []replayEvent {
	events := []replayEvent{}
	for _, s := range t {
		id := strconv.Itoa(s.Call)
		if s.Ends {
			events = append(events, replayEvent{Type: "result", ID: id, Outcome: outcomeNames[s.Outcome]})
			continue
		}
		if s.Wait > 0 {
			for range max(s.Times, 1) {
				events = append(events, replayEvent{Type: "wait", For: s.Wait.String()})
			}
			continue
		}
		call := replayEvent{Type: "call", ID: id, Tool: s.Tool, Approve: true}
		if s.Args != "" {
			call.Args = json.RawMessage(s.Args)
		}
		if s.Times == 0 {
			events = append(events, call)
			continue
		}
		for i := range s.Times {
			call.ID = fmt.Sprintf("%s.%d", id, i+1)
			events = append(events, call, replayEvent{Type: "result", ID: call.ID, Outcome: "success"})
		}
	}
	return events
}

// replayed are the events of a run with all the names that its tools have.
func (s toolSet) replayed(t verify.Trace) []replayEvent {
	events := replayed(t)
	for i := range events {
		for _, tool := range s.tools {
			if tool.Name != events[i].Tool {
				continue
			}
			for _, n := range tool.Also {
				events[i].Also = append(events[i].Also, n.Text)
			}
		}
	}
	return events
}

// unasked is the run with no consent to the last call: it needs none.
func unasked(events []replayEvent) []replayEvent {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Type == "call" {
			events[i].Approve = false
			break
		}
	}
	return events
}

// story is a run in lines for people, one for each call that begins or ends. A
// call that ends before the next event is one line.
func story(t verify.Trace) []string {
	names := make(map[int]string)
	var lines []string
	for i := 0; i < len(t); i++ {
		s := t[i]
		switch {
		case s.Wait > 0:
			lines = append(lines, fmt.Sprintf("%s pass", s.Wait*time.Duration(max(s.Times, 1))))
			continue
		case s.Ends:
			lines = append(lines, fmt.Sprintf("%s %s", names[s.Call], ending(s.Outcome)))
			continue
		case s.Times > 1:
			lines = append(lines, fmt.Sprintf("%s succeeds %d times", called(s), s.Times))
			continue
		}
		names[s.Call] = "the " + s.Name + " of step " + strconv.Itoa(len(lines)+1)
		switch {
		case s.Times == 1:
			lines = append(lines, called(s)+" succeeds")
		case !ends(t[i+1:], s.Call):
			lines = append(lines, called(s)+" is admitted")
		case t[i+1].Ends && t[i+1].Call == s.Call:
			lines = append(lines, fmt.Sprintf("%s %s", called(s), ending(t[i+1].Outcome)))
			i++
		default:
			lines = append(lines, called(s)+" begins")
		}
	}
	return lines
}

func ends(t verify.Trace, call int) bool {
	return slices.ContainsFunc(t, func(s verify.Step) bool { return s.Ends && s.Call == call })
}

// called is a call by its name, with what is sent where that names it.
func called(s verify.Step) string {
	if s.Name == s.Tool && (s.Args == "" || s.Args == "{}") {
		return s.Name
	}
	return fmt.Sprintf("%s (%s %s)", s.Name, s.Tool, s.Args)
}

func ending(o gate.Outcome) string {
	return [...]string{gate.Unknown: "ends, nobody knows how", gate.Success: "succeeds", gate.Failure: "fails"}[o]
}

// steps are the lines of a story, numbered.
func steps(t verify.Trace) string {
	var b strings.Builder
	for i, line := range story(t) {
		fmt.Fprintf(&b, "    %2d. %s\n", i+1, line)
	}
	return b.String()
}
