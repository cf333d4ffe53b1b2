package lsp

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/gate"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/policy"
	"github.com/petrigate/petrigate/internal/policy/check"
	"github.com/petrigate/petrigate/rules"
)

const fileName = "petrigate.yaml"

// projectOf returns the policy that a document belongs to. This is the policy of the nearest
// configuration that lists the document. If no configuration lists it, the policy consists of the
// document alone.
func (s *server) projectOf(d *document, open map[string]*document) *project {
	if d.kind == configFile {
		return s.configured(d.path, open)
	}
	if filepath.IsAbs(d.path) {
		for dir := filepath.Dir(d.path); ; dir = filepath.Dir(dir) {
			file := filepath.Join(dir, fileName)
			if _, err := os.Stat(file); err == nil || open[file] != nil {
				if p := s.configured(file, open); p.lists(d.path) {
					return p
				}
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return singleFile(d)
}

// configured returns the policy of a configuration. Variables that are missing from the editor's
// environment are reported as problems and replaced with placeholders.
func (s *server) configured(path string, open map[string]*document) *project {
	p := &project{main: path}
	o := config.Options{Path: path, Found: true, Trust: s.options.Trusts, Fetch: s.options.Base, Kept: s.options.Base, Partial: true, Unsaved: func(path string) ([]byte, bool) {
		if d := open[filepath.Clean(path)]; d != nil && d.refused == "" {
			return []byte(d.src), true
		}
		return nil, false
	}}
	cfg, err := config.Load(o)
	if err != nil {
		p.problems = configProblems(path, err)
		o.Env = anyVariable
		if cfg, err = config.Load(o); err != nil {
			p.broken = true
			return p
		}
	} else {
		p.problems = slices.Concat(check.ConfigWarnings(cfg), check.NoUpstream(cfg), check.NoAudit(cfg), check.Sessions(cfg), check.MissingCommands(cfg, diag.Warning))
		if s.options.Lint != nil {
			p.problems = append(p.problems, s.options.Lint(cfg)...)
		}
	}
	p.source = policy.FromConfig(cfg)
	return p
}

// configProblems returns the problems that prevent a configuration from being loaded.
func configProblems(path string, err error) diag.List {
	problems, rest := check.ConfigProblems(err)
	if rest != nil {
		problems = diag.List{{Severity: diag.Error, File: path, Msg: rest.Error()}}
	}
	return problems
}

// anyVariable looks up an environment variable. For an unset variable, it returns a placeholder, so
// that the configuration can be loaded anyway. Variables that change petrigate's own settings have
// no placeholder.
func anyVariable(name string) (string, bool) {
	if value, ok := os.LookupEnv(name); ok || strings.HasPrefix(name, "PETRIGATE_") || name == "XDG_CONFIG_HOME" {
		return value, ok
	}
	return "https://unset.invalid", true
}

// singleFile returns a policy that consists of a single file.
func singleFile(d *document) *project {
	p := &project{main: d.path}
	if d.kind == rulesFile {
		p.source.Rules = []config.RuleText{{File: d.path, Text: d.src}}
		return p
	}
	nets, err := config.ParseNet(d.path, []byte(d.src))
	if err != nil {
		problems, _ := diag.Find(err) // always succeeds, because every error from ParseNet contains problems
		p.problems, p.broken = problems.Coded(diag.Error, policy.MalformedNet), true
	}
	p.source.Nets = nets
	return p
}

// A currentRules is a parsed rules file of a policy. If the file is open in the editor, it is
// parsed from the editor's text. The field text is set only for the document that the request is
// about.
type currentRules struct {
	file *rules.File
	text *content
}

// rulesOf parses the rules of the policy that a document belongs to. If a file is open in the
// editor, it uses the editor's text. The rules of the document itself come first.
func (s *server) rulesOf(d *document) []currentRules {
	f, _ := rules.Parse(d.path, []byte(d.src))
	all := []currentRules{{f, d.content}}
	p := s.project(d.path)
	if p == nil {
		return all
	}
	open := s.documents()
	for _, r := range p.source.Rules {
		path := filepath.Clean(r.File)
		src := r.Text
		switch other := open[path]; {
		case path == d.path:
			continue
		case other != nil && path != p.main && other.refused == "":
			src = other.src
		}
		f, _ := rules.ParseAt([]byte(src), func(line, column int) gate.Position { return gate.Position(r.Position(line, column)) })
		all = append(all, currentRules{file: f})
	}
	return all
}

// mapsIn returns the map statements in the given rules files, each with the file that contains it.
func mapsIn(files []currentRules) iter.Seq2[currentRules, *rules.Map] {
	return func(yield func(currentRules, *rules.Map) bool) {
		for _, w := range files {
			for _, st := range w.file.Statements {
				if m, ok := st.(*rules.Map); ok && !yield(w, m) {
					return
				}
			}
		}
	}
}

// readTools reads a recorded list of tools from a file.
func readTools(file string) ([]check.ListedTool, error) {
	src, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	return check.ParseTools(file, src)
}
