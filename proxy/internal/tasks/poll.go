package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/rawjson"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/proxy/internal/spec"
	"github.com/petrigate/petrigate/proxy/internal/upstream"
	"github.com/petrigate/petrigate/proxy/internal/wire"
)

// Limits on the interval of the proxy's own tasks/get requests, whatever pollInterval the server
// suggests. A task whose client never asks must not keep a token in flight forever.
const (
	usualPoll = 5 * time.Second
	FastPoll  = 250 * time.Millisecond
	slowPoll  = time.Minute
	MaxMisses = 10 // consecutive tasks/get requests without an answer before the task counts as lost
)

// errTaskGone: the server does not know the task.
var errTaskGone = errors.New("the upstream does not know the task any more")

// poll sends tasks/get until the end of the task is known, unless its client does so often enough.
func (s *Tasks) poll(x *Task) {
	for misses := 0; ; {
		if !s.untilPoll(x, misses) {
			return
		}
		about, err := s.get(x)
		switch {
		case err == nil:
			misses = 0
			s.Reached(s.Life.Ctx, x, about)
		case errors.Is(err, errTaskGone):
			s.end(x, gate.Unknown, nil, "task lost")
		case misses >= MaxMisses:
			s.end(x, gate.Unknown, nil, fmt.Sprintf("task lost: %v", err))
		default:
			misses++
			x.missed(s.Now())
		}
	}
}

// untilPoll waits until the next tasks/get is due. It reports false if the task or the proxy ends.
func (s *Tasks) untilPoll(x *Task, misses int) bool {
	for {
		wait := x.NextPoll(misses, s.Now())
		if wait <= 0 {
			return !x.Finished()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-x.Over:
			timer.Stop()
			return false
		case <-s.Life.Ctx.Done():
			timer.Stop()
			return false
		}
	}
}

// get sends a tasks/get of the proxy's own.
func (s *Tasks) get(x *Task) (wire.Task, error) {
	reply, err := s.Request(s.Life.Ctx, x, "tasks/get")
	switch {
	case err != nil:
		return wire.Task{}, err
	case reply.Error != nil && unknownTask(reply.Error):
		return wire.Task{}, errTaskGone
	case reply.Error != nil:
		return wire.Task{}, errors.New("refused: " + text.Escape(spec.Member(reply.Error, "message")))
	}
	return s.read(x, reply.Result)
}

// read stores a task object from its server, and notifies subscribers of a changed status.
func (s *Tasks) read(x *Task, object []byte) (wire.Task, error) {
	about, err := wire.ParseTask(object)
	if err == nil && about.ID != x.theirs {
		err = errors.New("it is another task")
	}
	if err != nil {
		return wire.Task{}, fmt.Errorf("reading a task: %w", err)
	}
	if _, changed := x.set(object, about, s.Now()); changed {
		s.changed(x)
	}
	return about, nil
}

// unknownTask reports whether the error code means that the server might not know the task.
func unknownTask(failure []byte) bool {
	code, _ := rawjson.Member(failure, "code")
	switch string(code) {
	case "-32600", "-32601", "-32602", "-32001", "-32002":
		return true
	}
	return false
}

// Request sends a request about the task, of the proxy's own, and waits for the reply. members are
// further params, each preceded by a comma.
func (s *Tasks) Request(ctx context.Context, x *Task, method string, members ...byte) (upstream.Reply, error) {
	u := x.Upstream
	if u.State().Phase == upstream.Up && u.Rev() != x.rev {
		return upstream.Reply{}, errTaskGone // the server has restarted in the other family of revisions
	}
	params := append(append(rawjson.AppendString([]byte(`{"taskId":`), x.theirs), members...), '}')
	request := upstream.Request{Method: method, Name: x.theirs, Params: params}
	if x.rev.PerRequest {
		meta := append(append([]byte{'{'}, u.RequestMeta(spec.TakesTasks())...), '}')
		request.Params = wire.SetMember(params, "_meta", meta)
	}
	ctx, cancel := context.WithTimeout(ctx, u.Config.Timeout)
	defer cancel()
	return u.Call(ctx, request)
}

// Cancel sends tasks/cancel in the background.
func (s *Tasks) Cancel(x *Task) {
	s.Life.Background(func() { _, _ = s.Request(s.Life.Ctx, x, "tasks/cancel") })
}
