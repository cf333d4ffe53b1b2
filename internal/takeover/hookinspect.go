package takeover

import (
	"path/filepath"
	"slices"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
)

// A HookInspection describes an agent's hooks and the file that contains them.
type HookInspection struct {
	clientcfg.Hooks
	File     string
	Exists   bool
	There    []clientcfg.Hook
	Programs []string // absolute paths of the programs run by petrigate's hooks
	Kept     bool     // whether petrigate has a record of adding the hooks
	Off      []string // settings that disable all of the agent's hooks, in this file or in the current directory
	Problem  string
}

// mayAsk reports whether any of the agent's hooks may send events to a proxy that uses this
// configuration.
func (h HookInspection) mayAsk(s clientcfg.System, config string) bool {
	return slices.ContainsFunc(h.There, func(t clientcfg.Hook) bool { return t.Asks(s, config) })
}

// InspectHooks reads the hook files of all agents.
func (d *Driver) InspectHooks() (all []HookInspection) {
	for _, h := range clientcfg.AllHooks() {
		one := HookInspection{Hooks: h, File: firstExisting(h.File().Files(d.System))}
		f, err := d.open(h.File(), "")
		if err != nil {
			one.Problem = err.Error()
		} else {
			one.Exists, one.There = f.exists, h.Installed(f.doc)
			one.Programs = h.Programs(f.doc)
			n, err := d.records().read(f)
			one.Kept = n != nil && err == nil
			one.Off = d.disabledBy(h, f)
		}
		all = append(all, one)
	}
	return all
}

// HookedAgents returns the agents that run petrigate as a hook, and reports whether all files could
// be read.
func (d *Driver) HookedAgents() (agents []string, complete bool) {
	complete = true
	for _, h := range d.InspectHooks() {
		complete = complete && h.Problem == ""
		if len(h.There) > 0 {
			agents = append(agents, h.Agent)
		}
	}
	return agents, complete
}

// disabledBy lists the settings that disable all hooks of an agent. The settings may be in the
// agent's own files. They may also be in project files in the current directory. The project's
// author controls these files.
func (d *Driver) disabledBy(h clientcfg.Hooks, own *file) (all []string) {
	files := []*file{own}
	client := h.File()
	for _, name := range h.Beside(own.path) {
		if filepath.Ext(name) == ".toml" {
			client.Format = splice.TOML
		}
		if f, err := d.open(client, name); err == nil && !slices.ContainsFunc(files, func(o *file) bool { return o.target == f.target }) {
			files = append(files, f)
		}
	}
	for _, f := range files {
		if why := h.Off(f.doc); f.exists && why != "" {
			all = append(all, f.path+" has "+why)
		}
	}
	return all
}

// findHooks returns the hooks of the named client.
func findHooks(name string) (clientcfg.Hooks, error) {
	c, err := findClient(name)
	if err != nil {
		return clientcfg.Hooks{}, err
	}
	h, ok := clientcfg.HooksOf(c.Name)
	if !ok {
		names := list.Map(clientcfg.AllHooks(), func(h clientcfg.Hooks) string { return h.Client })
		return h, usage("petrigate does not support hooks for %s; it supports those of %s", c.Title, text.And(names))
	}
	return h, nil
}

// hooksAt is the path of keys that leads to the hooks in an agent's file.
var hooksAt = []string{"hooks"}
