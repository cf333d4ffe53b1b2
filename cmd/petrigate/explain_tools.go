package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
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
		for i := range list {
			list[i].complete(ownersIn(s.config))
		}
		s.tools = knownSet(list, s.config)
	}
	if !s.tools.known {
		return nil
	}
	s.guide = verify.NewGuide(s.result.Policy, verify.Options{Tools: s.tools.tools})
	guess := s.call
	s.call = func(tool string) gate.Call {
		call := guess(tool)
		if known, ok := s.tools.find(tool); ok {
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
	for _, t := range s.tools.tools {
		if !t.Supposed {
			calls = append(calls, s.call(t.Name))
		}
	}
	s.player.Session().Offer(calls)
}

// runningTools are those of the proxy that runs with this configuration.
func runningTools(cfg *config.Config) toolSet {
	if cfg == nil {
		return toolSet{}
	}
	file, err := filepath.Abs(cfg.File)
	if err != nil {
		return toolSet{}
	}
	found, err := running()
	if err != nil {
		return toolSet{}
	}
	for _, client := range found {
		if status, err := client.Status(); err != nil || status.Config != file {
			continue
		}
		if tools, err := client.Tools(""); err == nil && len(tools) > 0 {
			return knownSet(asListed(tools), cfg)
		}
	}
	return toolSet{}
}

// find is the tool that has this name, the exposed one before others; none if
// several have it.
func (s toolSet) find(name string) (verify.Tool, bool) {
	for _, t := range s.tools {
		if t.Name == name {
			return t, true
		}
	}
	var found []verify.Tool
	for _, t := range s.tools {
		if slices.ContainsFunc(t.Also, func(n gate.Name) bool { return n.Text == name }) {
			found = append(found, t)
		}
	}
	if len(found) != 1 {
		return verify.Tool{}, false
	}
	return found[0], true
}

// unknown reports whether the tools are known and none has this name.
func (s *stage) unknown(tool string) bool {
	_, ok := s.tools.find(tool)
	return s.tools.known && !ok
}

func tools(n int) string {
	if n == 1 {
		return "1 tool is"
	}
	return fmt.Sprintf("%d tools are", n)
}
