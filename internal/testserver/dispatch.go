package testserver

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/petrigate/petrigate/internal/list"
)

// handle handles a message and returns the response, or nil if the message must not be answered.
// The error is nil, errCancelled, [ErrSilent] or [ErrDie].
func (s *Server) handle(ctx context.Context, m message, x exchange) ([]byte, error) {
	if s.opts.Mute {
		return nil, ErrSilent
	}
	result, err := s.dispatch(ctx, m, x)
	var failed *Error
	switch {
	case errors.Is(err, errCancelled), errors.Is(err, ErrSilent), errors.Is(err, ErrDie):
		return nil, err
	case m.id == nil:
		return nil, nil
	case errors.As(err, &failed):
		return failed.response(m.id), nil
	case err != nil:
		return (&Error{Code: codeInternal, Message: err.Error()}).response(m.id), nil
	}
	return response(m.id, result), nil
}

func (s *Server) dispatch(ctx context.Context, m message, x exchange) (json.RawMessage, error) {
	if s.opts.DieOnDiscover && m.method == "server/discover" {
		return nil, ErrDie
	}
	if err := s.checkEra(m, x.modern); err != nil {
		return nil, err
	}
	switch {
	case m.method == "tools/call":
		return s.call(ctx, m, x)
	case m.method == "tools/list":
		return s.list(m, x)
	case m.method == "server/discover" && x.modern:
		return s.discover(), nil
	case m.method == "subscriptions/listen" && x.modern:
		return s.listen(ctx, m, x)
	case m.method == "initialize" && !x.modern:
		x.conn.declare(m)
		return s.initialize(m), nil
	case (m.method == "ping" || m.method == "logging/setLevel") && !x.modern:
		return json.RawMessage("{}"), nil
	case m.method == "notifications/cancelled":
		id := m.params["requestId"]
		s.record(Record{Kind: Cancelled, ID: id})
		x.conn.cancel(id)
		return nil, nil
	case m.id == nil:
		return nil, nil // ignore all other notifications
	}
	if result, known, err := s.method(ctx, m, x); known {
		return result, err
	}
	if result, known, err := s.handleTask(ctx, m, x); known {
		return result, err
	}
	return nil, &Error{Code: codeNoMethod, Message: "method not found: " + m.method}
}

// call handles a tools/call request. It records the call and runs the tool.
func (s *Server) call(ctx context.Context, m message, x exchange) (json.RawMessage, error) {
	name := text(m.params["name"])
	t, ok := s.find(name)
	if !ok || t.Needs != "" && x.conn.declared(m)[t.Needs] == nil {
		return nil, &Error{Code: codeInvalidParams, Message: "unknown tool: " + strconv.Quote(name)}
	}
	c := s.newCall(m, x)
	asTask, err := s.runsAsTask(t, m, x)
	if err != nil {
		return nil, err
	}
	if m.id != nil {
		var end func()
		ctx, end = x.conn.begin(ctx, m.id)
		defer end()
	}
	s.record(Record{Kind: Executed, Name: name, Args: c.Args, ID: m.id})
	if asTask {
		return s.startTask(t, c), nil
	}
	result, err := t.Run(ctx, c)
	if err != nil && errors.Is(err, ctx.Err()) {
		return nil, errCancelled
	}
	if err != nil {
		return nil, err
	}
	if x.modern && !t.Verbatim {
		result = complete(result)
	}
	return result, nil
}

func (s *Server) newCall(m message, x exchange) *Call {
	return &Call{
		Name: text(m.params["name"]), Args: m.params["arguments"], ID: m.id, Params: m.params,
		Modern: x.modern, Released: s.releaseChan(), server: s, send: x.send, conn: x.conn,
	}
}

// method handles a request for one of the methods in [Options].Methods. For any other method, it
// returns false.
func (s *Server) method(ctx context.Context, m message, x exchange) (json.RawMessage, bool, error) {
	run := s.opts.Methods[m.method]
	if run == nil || m.id == nil {
		return nil, false, nil
	}
	ctx, end := x.conn.begin(ctx, m.id)
	defer end()
	s.record(Record{Kind: Executed, Name: m.method, Args: m.params["arguments"], ID: m.id})
	result, err := run(ctx, s.newCall(m, x))
	return result, true, err
}

// list handles tools/list, returning one page at a time. A cursor is the index of a tool.
func (s *Server) list(m message, x exchange) (json.RawMessage, error) {
	tools := s.visibleTools(x.conn.declared(m))
	from := 0
	if raw, ok := m.params["cursor"]; ok {
		n, err := strconv.Atoi(text(raw))
		if err != nil || n < 0 || n > len(tools) {
			return nil, &Error{Code: codeInvalidParams, Message: "unknown cursor"}
		}
		from = n
	}
	to := len(tools)
	if s.opts.PageSize > 0 {
		to = min(to, from+s.opts.PageSize)
	}
	objects := list.Map(tools[from:to], func(t Tool) string { return string(t.object()) })
	result := `{"tools":[` + strings.Join(objects, ",") + `]` + withPrefix(",", s.opts.Around)
	if to < len(tools) {
		result += `,"nextCursor":"` + strconv.Itoa(to) + `"`
	}
	if x.modern {
		result += s.cacheable()
	}
	return json.RawMessage(result + "}"), nil
}
