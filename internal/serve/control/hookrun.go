package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/hook"
	"github.com/petrigate/petrigate/internal/text"
)

// A HookRun is the process that an agent starts for a hook event.
type HookRun struct {
	Dir     string // directory that contains the sockets
	Agent   string
	Session string   // name of the session; if not empty, it replaces the name in the event
	Servers []string // names of the proxy in the agent's list of MCP servers; if empty, the name is petrigate
	Config  string   // configuration file of the proxy to use; if empty, any running proxy is used
	In      io.Reader
	Out     io.Writer // where Run writes the reply for the agent
	Err     io.Writer // where Run writes error messages; the model sees them if the call is refused, and the person sees them otherwise
}

// Run forwards the event to the running proxy, writes the reply and returns the exit code of the
// process. If the event announces a call and no proxy replies, Run refuses the call.
func (h HookRun) Run(ctx context.Context) (code int) {
	agent := hook.Find(h.Agent)
	if agent == nil {
		_, _ = fmt.Fprintf(h.Err, "petrigate: unknown agent %q; known agents: %s\n", h.Agent, strings.Join(hook.Names(), ", "))
		return 2 // this exit code tells the agent to refuse the call
	}
	ctx, cancel := context.WithTimeout(ctx, agent.Limit())
	defer cancel()
	event, err := io.ReadAll(io.LimitReader(h.In, hook.MaxEvent+1))
	if len(event) > hook.MaxEvent { // read the whole event even if it is too long, because some agents let the call pass otherwise
		_, _ = io.Copy(io.Discard, h.In)
	}
	read, wrong := agent.Read(event)
	if err == nil {
		err = wrong
	}
	var reply HookReply
	switch {
	case read.Ignored():
		reply.Output = hook.Pass
	case err == nil:
		reply, err = h.ask(ctx, event)
	}
	switch {
	case err != nil && !read.Before():
		_, _ = fmt.Fprintf(h.Err, "petrigate: the outcome of a call was not recorded: %s\n", text.Escape(err.Error()))
		return 1
	case err != nil:
		reply.Denied = "The call was not made: petrigate could not decide on it, because of this problem: " + text.Escape(err.Error()) + ". A person must look into it; do not try another way."
		reply.Output = agent.Deny(read.Name, reply.Denied)
	}
	if _, err := fmt.Fprintf(h.Out, "%s\n", reply.Output); err != nil {
		return 2
	}
	if reply.Denied == "" {
		return 0
	}
	if agent.DenyExit != 0 {
		_, _ = fmt.Fprintln(h.Err, reply.Denied)
	}
	return agent.DenyExit
}

// ask finds the right proxy, forwards the event to it, and returns the reply.
func (h HookRun) ask(ctx context.Context, event []byte) (HookReply, error) {
	client, err := h.find()
	if err != nil {
		return HookReply{}, err
	}
	return client.Hook(ctx, h.Agent, h.Session, h.Servers, event)
}

// find returns a client for the proxy to use. If several proxies share a database, find chooses the
// one that started first. All events of a session must be sent to the same proxy, because only the
// proxy that decided on a call recognizes later events of that call.
func (h HookRun) find() (*Client, error) {
	found, err := Find(h.Dir)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, errors.New("no proxy of this user is running; start one with petrigate serve")
	case len(found) == 1 && h.Config == "":
		return found[0], nil
	}
	wanted, err := filepath.Abs(h.Config)
	if err != nil {
		return nil, err
	}
	var first *Client
	var of operator.Status
	for _, c := range found {
		s, err := c.Status()
		switch {
		case err != nil:
			return nil, err
		case h.Config != "" && s.Config != wanted:
			continue
		case first == nil:
			first, of = c, s
			continue
		case s.Config != of.Config:
			return nil, errors.New("several proxies run with different configurations; choose one with --config FILE")
		case s.State.Driver == "memory":
			return nil, errors.New("several proxies run with this configuration, each with its own state; use a database (state: sqlite) to share it")
		case s.Started.Before(of.Started):
			first, of = c, s
		}
	}
	if first == nil {
		return nil, fmt.Errorf("no proxy runs with the configuration %s; start one with petrigate serve", wanted)
	}
	return first, nil
}
