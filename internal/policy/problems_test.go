package policy

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/diag"
)

var update = flag.Bool("update", false, "write what the goldens should say")

// TestProblemArchives builds the policy of every archive in testdata/problems and compares all
// problems with "want". An archive contains *.rules files, and *.yaml files with nets. It may also
// contain the known tools ("tools") or the schemas of their arguments ("schemas"), the servers of a
// configuration ("servers": name=command or name/prefix, with name! for a disabled server), the
// names that only calls reported by hooks have ("hooked"), whether the configuration listens to
// hooks ("hooks"), "active", "default", the channels of approvals ("channels"), the arguments that
// approvals ignore ("ignore"), and the address of the console ("console").
func TestProblemArchives(t *testing.T) {
	paths, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			last := len(archive.Files) - 1
			got := said(t, archive.Files[:last])
			if *update {
				archive.Files[last].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[last].Data), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// schemas parses a list of the schemas of each tool.
func schemas(t *testing.T, src []byte) map[string][]Schema {
	t.Helper()
	var tools map[string][]json.RawMessage
	if err := json.Unmarshal(src, &tools); err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]Schema)
	for name, texts := range tools {
		for _, text := range texts {
			all[name] = append(all[name], ParseSchema(text))
		}
	}
	return all
}

// said returns the problems with the policy in the given files.
func said(t *testing.T, files []txtar.File) string {
	t.Helper()
	var s Source
	for _, f := range files {
		switch text := string(f.Data); {
		case f.Name == "tools":
			s.Tools = strings.Fields(text)
		case f.Name == "hooked":
			s.Hooked = strings.Fields(text)
		case f.Name == "unended":
			s.Unended = strings.Fields(text)
		case f.Name == "schemas":
			s.Schemas = schemas(t, f.Data)
			s.Tools = slices.Sorted(maps.Keys(s.Schemas))
		case f.Name == "channels":
			s.Config = &config.Config{Approval: config.Approval{Channels: strings.Fields(text)}}
		case f.Name == "console": // after the channels
			s.Config.Console.HTTP = strings.TrimSpace(text)
		case f.Name == "servers":
			s.Config = &config.Config{}
			for name := range strings.FieldsSeq(text) {
				name, command, _ := strings.Cut(name, "=")
				name, disabled := strings.CutSuffix(name, "!")
				name, prefix, has := strings.Cut(name, "/")
				s.Config.Servers = append(s.Config.Servers, config.Server{Command: command, Name: name, Prefix: prefix, HasPrefix: has, Disabled: disabled})
			}
		case f.Name == "hooks": // after the servers
			s.Config.Listen.Hooks = true
		case f.Name == "ignore":
			s.Config = &config.Config{Approval: config.Approval{Ignore: strings.Fields(text)}}
		case f.Name == "active":
			s.Active = strings.Fields(text)
			s.ActivePosition = config.Position{File: "petrigate.yaml", Line: 1, Column: 9}
		case f.Name == "default":
			s.Default = strings.TrimSpace(text)
		case filepath.Ext(f.Name) == ".rules":
			s.Rules = append(s.Rules, config.RuleText{File: f.Name, Text: text})
		default:
			nets, err := config.ParseNet(f.Name, f.Data)
			if err != nil {
				t.Fatal(config.Text(err))
			}
			s.Nets = append(s.Nets, nets...)
		}
	}
	r, err := Build(s)
	if errs := r.Problems.Of(diag.Error); len(errs) > 0 != (err != nil) {
		t.Errorf("%d errors: %v", len(errs), err)
	}
	var b strings.Builder
	for _, p := range r.Problems {
		fmt.Fprintf(&b, "%s %s %s\n", p.Severity, p.Code, p)
		if excerpt := strings.TrimRight(p.Excerpt, "\n"); excerpt != "" {
			fmt.Fprintln(&b, excerpt)
		}
	}
	return b.String()
}
