package takeover

import (
	"bytes"
	"context"
	"net"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/text"
)

// A HookConnection holds the arguments of petrigate connect --hooks.
type HookConnection struct {
	Client string
	File   string           // the agent's file; empty for the default file
	Serve  []string         // command that runs a proxy for the hooks; nil for petrigate serve
	Launch clientcfg.Launch // how the hooks connect to petrigate; contains a URL if the proxy accepts hooks over HTTP
	Run    *HookService     // service that can run the proxy; nil means that no service is offered
}

// ConnectHooks adds hooks to an agent's file, so that the agent runs petrigate.
func (d *Driver) ConnectHooks(ctx context.Context, c HookConnection) error {
	h, err := findHooks(c.Client)
	if err != nil {
		return err
	}
	f, err := d.open(h.File(), c.File)
	if err != nil {
		return err
	}
	if !h.ByURL() {
		c.Launch.URL = ""
	}
	n, err := d.records().read(f)
	if err != nil {
		return err
	}
	after, err := d.withHooks(f, n, h, c.Launch)
	if err != nil {
		return err
	}
	if bytes.Equal(after, f.src) {
		d.say("%s already runs petrigate as its hook: %s", h.Title, text.Escape(f.path))
		d.noteHookGaps(h, f)
		answers, err := c.Run.serve(ctx, d)
		if err == nil {
			c.Run.explainRunning(d, h, c.Serve, answers)
		}
		return err
	}
	if err := d.show(f, after); err != nil {
		return err
	}
	d.noteHookGaps(h, f)
	if c.Launch.URL != "" && len(c.Launch.Headers) > 0 {
		d.say("note: set %s where you start %s, to the proxy's token; without it, each call is refused", clientcfg.TokenVariable, h.Title)
	}
	if err := d.agreeToWrite(f); err != nil {
		return err
	}
	answers, err := c.Run.serve(ctx, d) // the hooks work only while a proxy runs
	if err != nil {
		return err
	}
	s := step{Existed: f.exists, Before: f.src, After: after}
	if err := d.change(f, s, len(h.Installed(f.doc)) > 0, "petrigate is a hook of "+h.Title); err != nil {
		return err
	}
	c.Run.explainRunning(d, h, c.Serve, answers)
	d.say("To undo: petrigate disconnect %s --hooks", h.Client)
	return nil
}

// noteHookGaps prints the settings that disable an agent's hooks, and the kinds of calls that the
// hooks cannot stop.
func (d *Driver) noteHookGaps(h clientcfg.Hooks, f *file) {
	for _, line := range d.disabledBy(h, f) {
		d.say("warning: %s does not run hooks: %s", h.Title, text.Escape(line))
	}
	for _, line := range h.Config.Gaps {
		d.say("note: %s", line)
	}
}

// withHooks returns the content of the file with petrigate's current hooks in place of any that
// petrigate added earlier.
func (d *Driver) withHooks(f *file, n *record, h clientcfg.Hooks, l clientcfg.Launch) ([]byte, error) {
	doc := f.doc
	if h.Config.New != "" && len(bytes.TrimSpace(f.src)) == 0 {
		var err error
		if doc, err = splice.Parse(f.path, []byte(h.Config.New), splice.JSON); err != nil {
			return nil, err
		}
	}
	bare, err := withoutOurs(f, n, h, doc)
	if err != nil {
		return nil, err
	}
	if doc, err = splice.Parse(f.path, bare, splice.JSON); err != nil {
		return nil, err
	}
	return doc.Append(hooksAt, h.Items(d.System, l))
}

// withoutOurs returns the content of doc without petrigate's hooks. It removes lists that become
// empty, unless they existed before petrigate first changed the file.
func withoutOurs(f *file, n *record, h clientcfg.Hooks, doc *splice.Document) ([]byte, error) {
	var before *splice.Document
	if n != nil {
		before, _ = splice.Parse(f.path, n.Steps[0].Before, splice.JSON) // cannot fail: the file has been parsed before
	}
	return doc.Drop(hooksAt, "hooks", before, h.Ours)
}

// DisconnectHooks removes petrigate's hooks from an agent's file.
func (d *Driver) DisconnectHooks(name, path string) error {
	done, err := d.dropHooks(name, path)
	if err == nil && !done {
		d.say("it has no petrigate hook")
	}
	return err
}

// dropHooks removes petrigate's hooks from an agent's file. It returns false if the file contains
// no such hooks and petrigate has no record of changing the file.
func (d *Driver) dropHooks(name, path string) (done bool, err error) {
	h, err := findHooks(name)
	if err != nil {
		return false, err
	}
	f, err := d.open(h.File(), path)
	if err != nil {
		return false, err
	}
	n, err := d.records().read(f)
	if err != nil {
		return false, err
	}
	after, exists, err := d.withoutHooks(f, n, h)
	if err != nil {
		return false, err
	}
	if n == nil && bytes.Equal(after, f.src) && exists == f.exists {
		return false, nil
	}
	if err := d.confirm(f, after, exists); err != nil {
		return true, err
	}
	edited := "; later edits were kept"
	if n == nil {
		edited = ""
	}
	_, err = d.undo(f, n, after, exists, "petrigate is no longer a hook of "+h.Title, edited)
	return true, err
}

// withoutHooks returns the content of the file without petrigate's hooks, and reports whether the
// file must still exist. It undoes the recorded steps, latest first, until it finds that the file
// was edited after a step. It then removes the remaining hooks.
func (d *Driver) withoutHooks(f *file, n *record, h clientcfg.Hooks) (after []byte, exists bool, err error) {
	after, exists = f.src, f.exists
	if n != nil {
		for i := len(n.Steps) - 1; i >= 0 && exists && bytes.Equal(after, n.Steps[i].After); i-- {
			after, exists = n.Steps[i].Before, n.Steps[i].Existed
		}
	}
	if !exists {
		return after, false, nil
	}
	doc, err := splice.Parse(f.path, after, splice.JSON)
	if err != nil {
		return nil, false, err
	}
	after, err = withoutOurs(f, n, h, doc)
	return after, true, err
}

// HookURL returns the listener's base URL for hooks on this machine, and the headers that the hooks
// must send. The URL of a hook is the base URL followed by /hook/AGENT. The base URL is empty if the
// listener does not accept hooks over HTTP, requires JWTs, or chooses its port only when it starts.
func HookURL(l config.Listen) (string, splice.Object) {
	host, port, err := net.SplitHostPort(l.HTTP)
	if l.Stdio || !l.Hooks || err != nil || port == "0" || l.Auth == "jwt" {
		return "", nil
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	scheme := "http://"
	if l.TLS != nil {
		scheme = "https://"
	}
	var headers splice.Object
	if l.Auth != "none" {
		headers = splice.Object{{Key: "Authorization", Value: "Bearer $" + clientcfg.TokenVariable}}
	}
	return scheme + net.JoinHostPort(host, port), headers
}
