package main

import (
	"fmt"
	"path/filepath"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/internal/policy/verify"
)

// learn gives the stage the tools of a recorded list or, without one, those of
// a running proxy with the same configuration. Where neither is there they stay
// unknown.
func (s *stage) learn(file string) error {
	if file == "" {
		s.tools = runningTools(s.config)
	} else {
		list, err := recordedTools(file)
		if err != nil {
			return err
		}
		s.tools = check.KnownSet(list, s.config)
	}
	if !s.tools.Known {
		return nil
	}
	s.guide = verify.NewGuide(s.result.Policy, verify.Options{Tools: s.tools.Tools})
	guess := s.call
	s.call = func(tool string) gate.Call {
		call := guess(tool)
		if known, ok := s.tools.Find(tool); ok {
			call.Tool, call.Foreign, call.Also = known.Name, guess(known.Name).Foreign, known.Also
		}
		return call
	}
	s.offer()
	return nil
}

// offer tells the session which tools there are, on which it depends which nets
// yield.
func (s *stage) offer() {
	calls := []gate.Call{}
	for _, t := range s.tools.Tools {
		if !t.Supposed {
			calls = append(calls, s.call(t.Name))
		}
	}
	s.session.Offer(calls)
}

// runningTools are those of the proxy that runs with this configuration.
func runningTools(cfg *config.Config) check.ToolSet {
	if cfg == nil {
		return check.ToolSet{}
	}
	file, err := filepath.Abs(cfg.File)
	if err != nil {
		return check.ToolSet{}
	}
	found, err := running()
	if err != nil {
		return check.ToolSet{}
	}
	for _, client := range found {
		if status, err := client.Status(); err != nil || status.Config != file {
			continue
		}
		if tools, err := client.Tools(""); err == nil && len(tools) > 0 {
			return check.KnownSet(asListed(tools), cfg)
		}
	}
	return check.ToolSet{}
}

// unknown reports whether the tools are known and none has this name.
func (s *stage) unknown(tool string) bool {
	_, ok := s.tools.Find(tool)
	return s.tools.Known && !ok
}

func tools(n int) string {
	if n == 1 {
		return "1 tool is"
	}
	return fmt.Sprintf("%d tools are", n)
}
