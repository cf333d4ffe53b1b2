package takeover

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/clientcfg"
	"github.com/petrigate/petrigate/internal/clientcfg/splice"
	"github.com/petrigate/petrigate/internal/diag"
	"github.com/petrigate/petrigate/internal/text"
	"github.com/petrigate/petrigate/internal/textfile"
)

// A Connection is what connect shall do.
type Connection struct {
	Client string
	File   string // "": the usual
	Config string // the file with the servers
	Launch clientcfg.Launch
	// Servers are those of the configuration, which are replaced.
	Servers []config.Server
	All     bool     // replace all servers, also those that the configuration does not have
	Only    []string // replace these only
}

// Connect replaces servers of a client by an entry that runs petrigate.
func (d *Desk) Connect(ctx context.Context, c Connection) error {
	client, err := Find(c.Client)
	if err != nil {
		return err
	}
	entry, ok := client.Entry(c.Launch)
	if !ok {
		return usage("%s reaches no server at a URL; leave --url out", client.Title)
	}
	f, err := d.open(client, c.File)
	if err != nil {
		return err
	}
	items, err := d.items(f, f.doc)
	if err != nil {
		return err
	}
	if err := c.known(items); err != nil {
		return err
	}
	if err := d.nameFree(f, items, c); err != nil {
		return err
	}
	after, changed, err := d.connected(f, items, c, entry)
	if err != nil {
		return err
	}
	if string(after) == string(f.src) {
		d.say("%s already runs petrigate: %s", client.Title, text.Escape(f.path))
		d.left(items, c)
		return nil
	}
	if err := d.quiet(ctx, client); err != nil {
		return err
	}
	if err := d.show(f.path, client.Format, f.src, after); err != nil {
		return err
	}
	d.left(items, c)
	if c.Launch.URL != "" {
		d.unnamed(c.Launch)
	} else {
		d.needs(client, c.Config)
	}
	d.linked(f)
	if err := d.Agree("Write " + text.Escape(f.path) + "?"); err != nil {
		return err
	}
	return d.connect(f, step{f.exists, f.src, after, changed}, slices.ContainsFunc(items, func(i item) bool { return i.own }))
}

// linked says that a file has another name, which is not written.
func (d *Desk) linked(f *file) {
	if info, err := os.Stat(f.target); err == nil && textfile.Linked(info) {
		d.say("note: %s has another name, a hard link: what is there stays as it is now", text.Escape(f.path))
	}
}

// unnamed says that a client without a header is let in by no proxy that wants a token.
func (d *Desk) unnamed(l clientcfg.Launch) {
	if len(l.Headers) == 0 {
		d.say("note: a proxy over HTTP wants a token, unless listen.auth is none: --header 'Authorization: Bearer TOKEN', with the one in ~/.local/state/petrigate/token")
	}
}

// reads finds the variables in a configuration that have to be set.
var reads = regexp.MustCompile(`\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::\?[^}]*)?\}`)

// needs says which variables a client has to start petrigate with: programs of a desktop do not have
// those of a shell.
func (d *Desk) needs(client clientcfg.Client, path string) {
	src, err := os.ReadFile(path)
	if err != nil {
		return // whoever loads it says so
	}
	var names []string
	for _, m := range reads.FindAllSubmatch(src, -1) {
		if name := string(m[1]); !slices.Contains(names, name) && name != "HOME" && name != "USER" {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		d.say("note: the configuration reads %s: set %s where %s is started, or petrigate does not start", text.And(names), map[bool]string{true: "it", false: "them"}[len(names) == 1], client.Title)
	}
}

// connect writes the file.
func (d *Desk) connect(f *file, s step, connected bool) error {
	if err := d.change(f, s, connected); err != nil {
		return err
	}
	d.say("connected %s: %s", f.client.Title, text.Escape(f.path))
	if f.exists {
		d.say("A backup is in %s", text.Escape(f.backup()))
	}
	d.say("%s\nTo undo: petrigate disconnect %s", f.client.Verify, f.client.Name)
	return nil
}

// known refuses names of --only that the client does not have.
func (c Connection) known(items []item) error {
	var names []string
	for _, i := range items {
		names = append(names, i.entry.Name)
	}
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			return usage("the client has no server %q%s", name, text.DidYouMean(name, "", names))
		}
	}
	return nil
}

// nameFree refuses a file with another server of our name, which would be lost.
func (d *Desk) nameFree(f *file, items []item, c Connection) error {
	for _, i := range items {
		if i.entry.Name == Ours && slices.Equal(i.at.Path, f.client.Place().Path) && !d.replaces(c, i) {
			return diag.List{{
				File: f.path, Line: i.entry.Line, Column: i.entry.Column, Msg: "another server has the name " + Ours,
				Hint: "give it another name in the client, or take it over: petrigate import " + f.client.Name + " --only " + Ours,
			}}
		}
	}
	return nil
}

// replaces reports whether an entry has to make room.
func (d *Desk) replaces(c Connection, i item) bool {
	switch {
	case i.own:
		return true
	case len(c.Only) > 0:
		return slices.Contains(c.Only, i.entry.Name)
	case c.All:
		return true
	}
	theirs, why := d.load(c.Config, i.server)
	return slices.ContainsFunc(c.Servers, func(s config.Server) bool {
		named := s.Name == i.entry.Name
		if why != "" {
			return named // what it runs is not known
		}
		return alike(s, theirs) && (named || slices.Equal(s.Args, theirs.Args)) // perhaps taken under another name
	})
}

// alike reports whether two servers are at one URL, or run one program, whatever its arguments have
// become.
func alike(a, b config.Server) bool {
	return a.URL == b.URL && program(a.Command) == program(b.Command)
}

// program is the name of the program of a command.
func program(command string) string {
	return strings.TrimSuffix(strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:]), ".exe")
}

// left says which servers the client still reaches by itself.
func (d *Desk) left(items []item, c Connection) {
	var names []string
	for _, i := range items {
		if !d.replaces(c, i) {
			names = append(names, cmp.Or(i.entry.Name, `""`))
		}
	}
	if len(names) > 0 {
		d.say("note: the client still reaches %s directly, past petrigate; petrigate import takes over what it can, --all-servers removes the rest here", text.And(text.EscapeAll(names)))
	}
}

// connected is the file with our entry, and what was removed from it.
func (d *Desk) connected(f *file, items []item, c Connection, entry splice.Object) (after []byte, changed []removed, err error) {
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
			continue // it is there
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

// Disconnect undoes what connect did to the file of a client.
func (d *Desk) Disconnect(ctx context.Context, name, path string) error {
	client, err := Find(name)
	if err != nil {
		return err
	}
	hooked := false
	if _, ok := clientcfg.HooksOf(client.Name); ok && path == "" { // they came last
		if hooked, err = d.dropHooks(client.Name, ""); err != nil {
			return err
		}
	}
	f, err := d.open(client, path)
	if err != nil {
		if f != nil {
			d.copies(f)
		}
		return err
	}
	n, err := d.note(f)
	switch {
	case err != nil:
		return err
	case n == nil && hooked:
		return nil
	case n == nil:
		return d.unknown(f)
	}
	after, exists, err := d.undone(f, n)
	if err != nil {
		return err
	}
	if err := d.quiet(ctx, client); err != nil {
		return err
	}
	if string(after) != string(f.src) || exists != f.exists {
		if err := d.show(f.path, client.Format, f.src, after); err != nil {
			return err
		}
		if err := d.Agree("Write " + text.Escape(f.path) + "?"); err != nil {
			return err
		}
	}
	return d.disconnect(f, n, after, exists)
}

// copies says where a file that cannot be read is as it was before connect.
func (d *Desk) copies(f *file) {
	for _, name := range []string{f.backup(), d.noteFile(f)} {
		if _, err := os.Lstat(name); err == nil {
			d.say("The file as it was before connect is in %s", text.Escape(name))
		}
	}
}

// unknown answers for a file of which nothing is kept.
func (d *Desk) unknown(f *file) error {
	items, err := d.items(f, f.doc)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(items, func(i item) bool { return i.own }) {
		return fmt.Errorf("%s has an entry of petrigate that connect has not written, or not as this user: remove it by hand%s", f.path, f.older())
	}
	d.say("%s is not connected: %s", f.client.Title, text.Escape(f.path))
	return nil
}

// undone is the file without what connect did, the last step first. A file that connect
// has made goes if nothing else is in it.
func (d *Desk) undone(f *file, n *note) (after []byte, exists bool, err error) {
	after, exists = f.src, f.exists
	for _, s := range slices.Backward(n.Steps) {
		if !exists || string(after) == string(s.After) { // a file that somebody has removed comes back whole
			after, exists = s.Before, s.Existed
			continue
		}
		if after, err = f.restore(after, s); err != nil {
			return nil, false, fmt.Errorf("%v\nThe file as it was before is in %s, and in %s", err, f.backup(), d.noteFile(f))
		}
	}
	return after, exists, nil
}

// restore takes our entry out of a file that was edited since, and puts back the entries that are
// not there.
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

// disconnect writes the file, and then forgets it.
func (d *Desk) disconnect(f *file, n *note, after []byte, exists bool) error {
	first := n.Steps[0]
	asBefore := exists == first.Existed && string(after) == string(first.Before)
	if err := d.undo(f, after, exists, asBefore); err != nil {
		return err
	}
	switch {
	case asBefore && !exists:
		d.say("disconnected %s: %s was removed: connect had created it", f.client.Title, text.Escape(f.path))
		return nil
	case asBefore:
		d.say("disconnected %s: %s is as it was, byte for byte", f.client.Title, text.Escape(f.path))
		return d.still(f, after)
	}
	d.say("disconnected %s: %s has its servers back, and what was edited since", f.client.Title, text.Escape(f.path))
	if _, err := os.Lstat(f.backup()); err == nil {
		d.say("The file as it was before connect is still in %s", text.Escape(f.backup()))
	}
	return nil
}

// still says that a file runs petrigate although all that is kept of it was undone: what an earlier
// connect has kept is lost.
func (d *Desk) still(f *file, after []byte) error {
	doc, err := splice.Parse(f.path, after, f.client.Format)
	if err != nil {
		return err
	}
	items, err := d.items(f, doc)
	if err == nil && slices.ContainsFunc(items, func(i item) bool { return i.own }) {
		d.say("note: it still runs petrigate, as before connect: remove that entry by hand%s", text.Escape(f.older()))
	}
	return err
}

// put makes the file what it is to be, or removes it.
func (f *file) put(after []byte, exists bool) error {
	switch {
	case !exists && f.exists:
		return os.Remove(f.target)
	case exists && string(after) != string(f.src):
		return f.write(after)
	}
	return nil
}

// dropBackup removes a backup that is the same as the file.
func (f *file) dropBackup(before []byte) error {
	kept, err := os.ReadFile(f.backup())
	if errors.Is(err, fs.ErrNotExist) || err == nil && string(kept) != string(before) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.Remove(f.backup())
}
