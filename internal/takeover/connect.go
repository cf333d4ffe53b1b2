package takeover

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"

	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/list"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
)

// Connect replaces servers in a client's file with a single entry that runs petrigate.
func (d *Driver) Connect(ctx context.Context, c Connection) error {
	client, err := findClient(c.Client)
	if err != nil {
		return err
	}
	entry, ok := client.Entry(c.Launch)
	if !ok {
		return usage("%s does not support servers at a URL; omit --url", client.Title)
	}
	f, err := d.open(client, c.File)
	if err != nil {
		return err
	}
	items, err := d.items(f, f.doc)
	if err != nil {
		return err
	}
	if err := c.checkOnly(items); err != nil {
		return err
	}
	if err := d.checkNameFree(f, items, c); err != nil {
		return err
	}
	after, changed, err := d.withEntry(f, items, c, entry)
	if err != nil {
		return err
	}
	if string(after) == string(f.src) {
		d.say("%s already runs petrigate: %s", client.Title, text.Escape(f.path))
		d.noteDirectServers(items, c)
		return nil
	}
	if err := d.checkNotRunning(ctx, client); err != nil {
		return err
	}
	if err := d.show(f, after); err != nil {
		return err
	}
	d.noteDirectServers(items, c)
	if c.Launch.URL != "" {
		output{d.Out}.noteNoHeaders(c.Launch)
	} else {
		output{d.Out}.noteVariables(client, c.Config)
	}
	output{d.Out}.noteHardLink(f)
	if err := d.agreeToWrite(f); err != nil {
		return err
	}
	connected := slices.ContainsFunc(items, func(i item) bool { return i.own })
	if err := d.change(f, step{f.exists, f.src, after, changed}, connected, "connected "+client.Title); err != nil {
		return err
	}
	d.say("%s\nTo undo: petrigate disconnect %s", client.Verify, client.Name)
	return nil
}

// change records the change, so that it can be undone, and writes the file. It then prints the
// message and the file's path. If the file existed before, it also prints the path of the backup.
func (d *Driver) change(f *file, s step, connected bool, message string) error {
	if err := d.records().change(f, s, connected); err != nil {
		return err
	}
	d.say("%s: %s", message, text.Escape(f.path))
	if f.exists {
		d.say("A backup is in %s", text.Escape(f.backup()))
	}
	return nil
}

// noteHardLink warns if the file has other names (hard links), because the content under these
// names will not change.
func (o output) noteHardLink(f *file) {
	if info, err := os.Stat(f.target); err == nil && textfile.Linked(info) {
		o.say("note: %s has a second name (a hard link), whose content stays unchanged", text.Escape(f.path))
	}
}

// noteNoHeaders warns if the client sends no headers. A proxy that requires a token refuses such a
// client.
func (o output) noteNoHeaders(l clientcfg.Launch) {
	if len(l.Headers) == 0 {
		o.say("note: a proxy over HTTP requires a token, unless listen.auth is none. Pass it with --header 'Authorization: Bearer TOKEN', with the token in ~/.local/state/petrigate/token")
	}
}

// variableReference matches a reference to an environment variable. It does not match a reference
// with a default value, because such a variable need not be set.
var variableReference = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::\?[^}]*)?\}`)

// noteVariables lists the variables that must be set when the client starts petrigate. Desktop
// programs do not inherit variables from a shell.
func (o output) noteVariables(client clientcfg.Client, path string) {
	src, err := os.ReadFile(path)
	if err != nil {
		return // the caller loads the same file and reports the error
	}
	var names []string
	for _, m := range variableReference.FindAllSubmatch(src, -1) {
		if name := string(m[1]); !slices.Contains(names, name) && name != "HOME" && name != "USER" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		o.say("note: the configuration reads %s: set %s where you start %s, or petrigate will not start", text.And(names), map[bool]string{true: "it", false: "them"}[len(names) == 1], client.Title)
	}
}

// checkNameFree returns an error if another server in the client's file has the same name as
// petrigate's entry, unless Connect replaces that server.
func (d *Driver) checkNameFree(f *file, items []item, c Connection) error {
	for _, i := range items {
		if i.entry.Name == Ours && slices.Equal(i.at.Path, f.client.Place.Path) && !d.replaces(c, i) {
			return diag.List{{
				File: f.path, Line: i.entry.Line, Column: i.entry.Column, Msg: "another server is already named " + Ours,
				Hint: "rename it in the client, or import it: petrigate import " + f.client.Name + " --only " + Ours,
			}}
		}
	}
	return nil
}

// noteDirectServers lists the servers that the client still reaches directly, without petrigate.
func (d *Driver) noteDirectServers(items []item, c Connection) {
	direct := list.Filter(items, func(i item) bool { return !d.replaces(c, i) })
	names := list.Map(direct, func(i item) string { return cmp.Or(i.entry.Name, `""`) })
	if len(names) > 0 {
		d.say("note: the client still reaches %s directly, bypassing petrigate. petrigate import imports what it can; --all-servers removes the rest from the client", text.And(text.EscapeAll(names)))
	}
}

// withEntry adds petrigate's entry to the content of the file and removes the entries that it
// replaces. It returns the new content and the names of the removed entries, grouped by their
// location in the file.
func (d *Driver) withEntry(f *file, items []item, c Connection, entry splice.Object) (after []byte, changed []removed, err error) {
	doc := f.doc
	for i, at := range f.client.Places(f.doc) {
		r := removed{Path: at.Path, Named: at.Named}
		for _, it := range items {
			if slices.Equal(it.at.Path, at.Path) && d.replaces(c, it) {
				r.Names = append(r.Names, it.entry.Name)
			}
		}
		var add []splice.New
		if i == 0 {
			add = []splice.New{{Name: Ours, Value: entry}}
		} else if len(r.Names) == 0 {
			continue
		}
		if i == 0 && slices.Equal(r.Names, []string{Ours}) && doc.Has(at, add[0]) {
			continue // the entry is already present
		}
		next, err := doc.Replace(at, r.Names, add...)
		if err != nil {
			return nil, nil, err
		}
		if doc, err = splice.Parse(f.path, next, f.client.Format); err != nil {
			return nil, nil, err
		}
		changed = append(changed, r)
	}
	return doc.Bytes(), changed, nil
}

// Disconnect undoes the changes that Connect made to a client's file.
func (d *Driver) Disconnect(ctx context.Context, name, path string) error {
	client, err := findClient(name)
	if err != nil {
		return err
	}
	hooked := false
	if _, ok := clientcfg.HooksOf(client.Name); ok && path == "" { // hooks were added last, so they are removed first
		if hooked, err = d.dropHooks(client.Name, ""); err != nil {
			return err
		}
	}
	f, err := d.open(client, path)
	if err != nil {
		if f != nil {
			d.noteCopies(f)
		}
		return err
	}
	n, err := d.records().read(f)
	switch {
	case err != nil:
		return err
	case n == nil && hooked:
		return nil
	case n == nil:
		return d.notRecorded(f)
	}
	after, exists, err := d.undoSteps(f, n)
	if err != nil {
		return err
	}
	if err := d.checkNotRunning(ctx, client); err != nil {
		return err
	}
	if err := d.confirm(f, after, exists); err != nil {
		return err
	}
	return d.disconnect(f, n, after, exists)
}

// noteCopies prints the paths of all copies of the original file. It is called if petrigate can no
// longer parse the file.
func (d *Driver) noteCopies(f *file) {
	for _, name := range []string{f.backup(), d.records().path(f)} {
		if _, err := os.Lstat(name); err == nil {
			d.say("The original file is in %s", text.Escape(name))
		}
	}
}

// notRecorded handles a file without a record of changes. Such a file cannot be restored. If it has
// an entry that runs petrigate, notRecorded returns an error. Otherwise, it prints that the client
// is not connected.
func (d *Driver) notRecorded(f *file) error {
	items, err := d.items(f, f.doc)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(items, func(i item) bool { return i.own }) {
		return fmt.Errorf("%s has a petrigate entry that connect did not write, or that it wrote as another user. Remove it by hand%s", f.path, f.backupHint())
	}
	d.say("%s is not connected: %s", f.client.Title, text.Escape(f.path))
	return nil
}

// undoSteps undoes the recorded steps in reverse order and returns the resulting content. It also
// reports whether the file must still exist. The file must be removed if petrigate created it and
// nothing else was added to it.
func (d *Driver) undoSteps(f *file, n *record) (after []byte, exists bool, err error) {
	after, exists = f.src, f.exists
	for _, s := range slices.Backward(n.Steps) {
		if !exists || string(after) == string(s.After) { // if the file was deleted or has not changed since the step, undo the step completely
			after, exists = s.Before, s.Existed
			continue
		}
		if after, err = f.restore(after, s); err != nil {
			return nil, false, fmt.Errorf("%v\nThe original file is in %s, and in %s", err, f.backup(), d.records().path(f))
		}
	}
	return after, exists, nil
}

// restore undoes a step in a file that was edited later. It removes petrigate's entry and puts back
// the entries that the step removed. It does not put back an entry if the file now has another
// entry of the same name.
func (f *file) restore(src []byte, s step) ([]byte, error) {
	old, err := splice.Parse(f.path, s.Before, f.client.Format)
	if err != nil {
		return nil, err
	}
	doc, err := splice.Parse(f.path, src, f.client.Format)
	if err != nil {
		return nil, err
	}
	for i, r := range s.Removed {
		entries, err := doc.Entries(r.place())
		if err != nil {
			return nil, err
		}
		there := func(name string) bool {
			return slices.ContainsFunc(entries, func(e splice.Entry) bool { return e.Name == name })
		}
		ours := ""
		if i == 0 {
			ours = Ours
		}
		names := slices.DeleteFunc(slices.Clone(r.Names), func(name string) bool { return there(name) && name != ours })
		src, err = doc.Restore(r.place(), old, names, ours)
		if err != nil {
			return nil, err
		}
		if doc, err = splice.Parse(f.path, src, f.client.Format); err != nil {
			return nil, err
		}
	}
	return doc.Bytes(), nil
}

// disconnect writes the file and deletes its record.
func (d *Driver) disconnect(f *file, n *record, after []byte, exists bool) error {
	asBefore, err := d.undo(f, n, after, exists, "disconnected "+f.client.Title, " has its servers back; later edits were kept")
	switch {
	case err != nil || asBefore && !exists:
		return err
	case asBefore:
		return d.noteStillConnected(f, after)
	}
	if _, err := os.Lstat(f.backup()); err == nil {
		d.say("The original file is still in %s", text.Escape(f.backup()))
	}
	return nil
}

// undo writes or removes the file and deletes its record, if any. It then prints the message and
// the file's path, followed by the outcome. If the file is in its original state again, undo
// reports this instead of the outcome and returns true.
func (d *Driver) undo(f *file, n *record, after []byte, exists bool, message, outcome string) (asBefore bool, err error) {
	asBefore = n != nil && exists == n.Steps[0].Existed && bytes.Equal(after, n.Steps[0].Before)
	if err := d.records().undo(f, after, exists, asBefore); err != nil {
		return false, err
	}
	switch {
	case asBefore && !exists:
		outcome = " was removed: connect had created it"
	case asBefore:
		outcome = " is restored, byte for byte"
	}
	d.say("%s: %s%s", message, text.Escape(f.path), outcome)
	return asBefore, nil
}

// noteStillConnected warns if the restored file still contains an entry that runs petrigate. This
// happens if the record of an earlier connect was lost.
func (d *Driver) noteStillConnected(f *file, after []byte) error {
	doc, err := splice.Parse(f.path, after, f.client.Format)
	if err != nil {
		return err
	}
	items, err := d.items(f, doc)
	if err == nil && slices.ContainsFunc(items, func(i item) bool { return i.own }) {
		d.say("note: it still runs petrigate, as before connect: remove that entry by hand%s", text.Escape(f.backupHint()))
	}
	return err
}
