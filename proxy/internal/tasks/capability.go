package tasks

import (
	"github.com/petrigate/petrigate/proxy/internal/pool"
	"github.com/petrigate/petrigate/proxy/internal/rev"
	"github.com/petrigate/petrigate/proxy/internal/session"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
)

// MakesTasks reports whether a server makes tasks of calls, in the revision that it
// speaks.
func MakesTasks(u *pool.Server) bool {
	s := u.State()
	if u.Rev().TaskExtension {
		return spec.Declares(s.Capabilities, "extensions", spec.TasksExtension)
	}
	return spec.Declares(s.Capabilities, "tasks", "requests", "tools", "call")
}

// makers returns the servers of a revision that are up and make tasks of calls.
func (s *Tasks) makers(of *rev.Rev) []*pool.Server {
	var list []*pool.Server
	for _, u := range s.Servers() {
		if u.State().Phase == upstream.Up && u.Rev() == of && MakesTasks(u) {
			list = append(list, u)
		}
	}
	return list
}

// can reports whether a server of 2025-11-25 has a member of the capability tasks: list or
// cancel.
func (s *Tasks) can(what string) bool {
	for _, u := range s.makers(rev.Rev2025) {
		if spec.Declares(u.State().Capabilities, "tasks", what) {
			return true
		}
	}
	return false
}

// AppendCapability adds to capabilities, but for their last brace, what clients of
// the peer's revision can have of tasks.
func (s *Tasks) AppendCapability(b []byte, a session.Peer) []byte {
	switch {
	case a.Rev.TaskExtension && len(s.makers(rev.Rev2026))+len(s.makers(rev.Rev2025)) > 0:
		b = append(b, `,"extensions":{"`+spec.TasksExtension+`":{}}`...)
	case !a.Rev.TaskExtension && a.Protocol >= spec.TasksSince && len(s.makers(rev.Rev2025)) > 0:
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

// WithTasks adds the extension to the capabilities of a client.
func WithTasks(capabilities []byte) []byte {
	b := append([]byte(nil), capabilities[:len(capabilities)-1]...)
	if len(b) > 1 {
		b = append(b, ',')
	}
	return append(b, spec.TakesTasks()[1:]...)
}
