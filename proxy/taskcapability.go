package proxy

import (
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// tasksExtension is the extension of 2026-07-28, declared by clients that take tasks
// and servers that make them. In 2025-11-25 servers declare tasks.requests.tools.call,
// tasks.list and tasks.cancel.
const tasksExtension = "io.modelcontextprotocol/tasks"

// takesTasks returns the client capabilities that requests of the proxy for tasks
// declare.
func takesTasks() []byte { return []byte(`{"extensions":{"` + tasksExtension + `":{}}}`) }

// within follows keys through the objects that they name.
func within(obj []byte, keys ...string) (value []byte, ok bool) {
	for _, key := range keys {
		if obj, ok = rawjson.Member(obj, key); !ok {
			return nil, false
		}
	}
	return obj, true
}

// declares reports whether capabilities have an object under the keys.
func declares(capabilities []byte, keys ...string) bool {
	value, ok := within(capabilities, keys...)
	return ok && rawjson.Kind(value) == '{'
}

// takesTasks reports whether a client of 2026-07-28 takes a task for an answer.
func (a agent) takesTasks() bool {
	return a.rev.TaskExtension && declares(a.capabilities, "extensions", tasksExtension)
}

// makesTasks reports whether a server makes tasks of calls, in the revision that it
// speaks.
func (u *upstreamState) makesTasks() bool {
	s := u.State()
	if u.rev().TaskExtension {
		return declares(s.Capabilities, "extensions", tasksExtension)
	}
	return declares(s.Capabilities, "tasks", "requests", "tools", "call")
}

// makers returns the servers of a revision that are up and make tasks of calls.
func (s *tasks) makers(of *rev.Rev) []*upstreamState {
	var list []*upstreamState
	for _, u := range s.servers() {
		if u.State().Phase == upstream.Up && u.rev() == of && u.makesTasks() {
			list = append(list, u)
		}
	}
	return list
}

// can reports whether any server of 2025-11-25 has a member of the capability
// tasks: list or cancel.
func (s *tasks) can(what string) bool {
	for _, u := range s.makers(rev.Rev2025) {
		if declares(u.State().Capabilities, "tasks", what) {
			return true
		}
	}
	return false
}

// appendCapability adds to capabilities, but for their last brace, what clients of
// the agent's revision can have of tasks.
func (s *tasks) appendCapability(b []byte, a agent) []byte {
	switch {
	case a.rev.TaskExtension && len(s.makers(rev.Rev2026))+len(s.makers(rev.Rev2025)) > 0:
		b = append(b, `,"extensions":{"`+tasksExtension+`":{}}`...)
	case !a.rev.TaskExtension && a.protocol >= tasksSince && len(s.makers(rev.Rev2025)) > 0:
		b = append(b, `,"tasks":{`...)
		for _, what := range [...]string{"list", "cancel"} {
			if s.can(what) {
				b = append(b, `"`+what+`":{},`...)
			}
		}
		b = append(b, `"requests":{"tools":{"call":{}}}}`...)
	}
	return b
}

// tasksSince is the first revision with tasks.
const tasksSince = "2025-11-25"

// withTasks adds the extension to the capabilities of a client.
func withTasks(capabilities []byte) []byte {
	b := append([]byte(nil), capabilities[:len(capabilities)-1]...)
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(b, takesTasks()[1:]...)
}
