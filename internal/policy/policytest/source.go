package policytest

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/policy"
)

// A Loader loads the policies of test files, each policy only once. The zero value is ready to use.
type Loader struct {
	// Call returns a function that creates calls to tools under a configuration, as
	// check.CallsUnder does. The configuration is nil if the policy consists only of rules and
	// nets. If Call is nil, each tool has only one name.
	Call func(*config.Config) func(tool string) gate.Call

	Cover  bool   // whether to record coverage
	Config string // path of a configuration to test all files against; if empty, each file determines its own policy

	// Options are used to load configurations. A configuration that the caller did not choose is
	// loaded without resolving ${...}, unless Options.Trust accepts it; see
	// [config.Config.TextOnly].
	Options config.Options

	loaded map[string]*Policy
	order  []string
}

// Load returns the policy that f tests. An error in the test file is a [config.ErrorList]; an error
// in the configuration or the policy is a [diag.List].
func (l *Loader) Load(f *File) (*Policy, error) {
	s, err := f.source(l.Config)
	if err != nil {
		return nil, err
	}
	key := s.key()
	if p := l.loaded[key]; p != nil {
		return p, nil
	}
	source, err := s.read(l.Options)
	if err != nil {
		return nil, s.located(err)
	}
	result, err := policy.Build(source)
	if err != nil {
		return nil, err
	}
	p := &Policy{Result: result, Source: source, call: func(tool string) gate.Call { return gate.Call{Tool: tool} }}
	if l.Call != nil {
		p.call = l.Call(p.Source.Config)
	}
	if l.Cover {
		if p.watch, err = newWatch(p); err != nil {
			return nil, err
		}
	}
	if l.loaded == nil {
		l.loaded = make(map[string]*Policy)
	}
	l.loaded[key], l.order = p, append(l.order, key)
	return p, nil
}

// Coverage returns the coverage of all policies, in the order they were loaded.
func (l *Loader) Coverage() *Coverage {
	var items []*Item
	for _, key := range l.order {
		items = append(items, l.loaded[key].watch.items...)
	}
	return newCoverage(items)
}

// source returns the location of the policy to test: override or, if override is empty, the
// location that the file names. If the file names none, the policy is in the file's directory.
func (f *File) source(override string) (Source, error) {
	s := f.Policy
	if override != "" {
		return Source{Config: override, Env: s.Env, named: true}, nil
	}
	if s.Config != "" || len(s.Rules)+len(s.Nets) > 0 {
		return s, nil
	}
	dir := filepath.Dir(f.Name)
	beside := filepath.Join(dir, "petrigate.yaml")
	if _, err := os.Stat(beside); err == nil {
		s.Config = beside
		return s, nil
	}
	for pattern, to := range map[string]*[]string{"*.rules": &s.Rules, "*.net.yaml": &s.Nets} {
		if found, _ := filepath.Glob(filepath.Join(escape(dir), pattern)); len(found) > 0 { // Glob cannot fail, because the pattern is valid
			*to = []string{filepath.Join(escape(dir), pattern)}
		}
	}
	if len(s.Rules)+len(s.Nets) == 0 {
		return s, config.ErrorList{{
			File: f.Name, Msg: "the tests have no policy: their folder contains no petrigate.yaml and no *.rules",
			Hint: `name it: "config: ..." or "rules: ..."`,
		}}
	}
	return s, nil
}

// escape returns a glob pattern that matches only the given path.
func escape(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// key returns a string that identifies the source. Equal sources have equal keys.
func (s *Source) key() string {
	key := fmt.Sprintf("%q %q %q %q", s.Config, s.Rules, s.Nets, s.Default)
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		key += fmt.Sprintf(" %q=%q", name, s.Env[name])
	}
	return key
}

// read reads the files that make up the policy.
func (s *Source) read(o config.Options) (policy.Source, error) {
	if s.Config == "" {
		source, err := policy.FromFiles(s.Rules, s.Nets)
		source.Default = s.Default
		return source, err
	}
	o.Path, o.Env, o.Found = s.Config, s.lookup, !s.named
	cfg, err := config.Load(o)
	if err != nil {
		return policy.Source{}, err
	}
	return policy.FromConfig(cfg), nil
}

func (s *Source) lookup(name string) (string, bool) {
	if value, ok := s.Env[name]; ok {
		return value, true
	}
	return os.LookupEnv(name)
}

// located adds to err the position of the policy in the test file. An error that already has a
// position is returned unchanged.
func (s *Source) located(err error) error {
	var one config.Error
	if errors.As(err, &one) && one.Line > 0 {
		return err
	}
	return config.ErrorList{{File: s.Position.File, Line: s.Position.Line, Column: s.Position.Column, Msg: err.Error()}}
}
