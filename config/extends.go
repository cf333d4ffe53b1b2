package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/petrigate/petrigate/internal/basefile"
	"github.com/petrigate/petrigate/internal/list"
)

// A baseFile is a base policy as read from its file, with the settings that it provides.
type baseFile struct {
	Base
	root     Value
	settings Config  // settings of the base policy that are not scalars
	scalars  *layers // scalar settings of the base policy
}

// baseScalars lists the scalars that a base policy may set. It is read-only.
var baseScalars = []struct {
	key              string
	stricterIfHigher bool // whether a configuration may only raise the base's value; otherwise, the value may only be lowered
}{{"expire", false}, {"cooldown", true}}

// A baseReader reads base policies. Its fields correspond to those of [Options].
type baseReader struct {
	fetch   Fetch
	partial bool
}

// bases reads the base policies listed under "extends".
func (r baseReader) bases(v Value) (bases []*baseFile) {
	v.Items(`an entry of "extends"`, func(v Value) {
		if b := r.entry(v); b != nil {
			bases = append(bases, b)
		}
	})
	if v.kind == listKind && len(v.items) == 0 {
		v.Fault(v.what+" is empty", "omit the key")
	}
	return bases
}

func (r baseReader) entry(v Value) *baseFile {
	var file, address, digest, key string
	var refresh time.Duration
	ok := v.Fields(Keys{
		"file":    into(&file, Value.Text),
		"url":     into(&address, Value.Text),
		"digest":  readPinned(&digest, basefile.CheckDigest),
		"key":     readPinned(&key, func(text string) error { _, err := basefile.KeyID(text); return err }),
		"refresh": into(&refresh, durationFrom(time.Minute)),
	})
	switch {
	case v.kind != mapKind || !ok:
		return nil
	case (file == "") == (address == ""):
		v.Fault(`an entry of "extends" must have either "file" or "url"`, "")
		return nil
	case (digest == "") == (key == ""):
		v.Fault(`an entry of "extends" must have either "digest" or "key"`, "use digest: sha256: and the output of sha256sum to pin these bytes, or key: and the minisign public key that signs them")
		return nil
	case refresh > 0 && (address == "" || key == ""):
		v.faultAt(v.get("refresh"), `"refresh" requires a base with "url" and "key"`, "omit refresh: files are watched, and a base with a digest never changes")
		return nil
	}
	if why := addressProblem(address); address != "" && why != "" {
		v.faultAt(v.get("url"), why, "")
		return nil
	}
	b := &baseFile{Base: Base{File: address, Key: key, Entry: v.Position(), Refresh: refresh}}
	read := b.fetching(v, r.fetch)
	if address == "" {
		b.File, read = v.path(file), v.readFiles
	}
	data, err := readVerified(b.File, digest, key, read)
	switch {
	case err != nil && r.partial && address != "":
		v.warn(v.get("url"), fmt.Sprintf("skipped the base policy %q: %v", address, cause(err)), "run petrigate check to read it")
		return nil
	case err != nil:
		v.Fault(fmt.Sprintf("rejected the base policy %q: %v", b.File, cause(err)), "")
		return nil
	}
	b.Digest = basefile.Digest(data)
	v.recordSum(b.File, data)
	b.read(v, data)
	return b
}

// fetching returns a function that calls fetch and records the result in b: the contents, and
// whether a cached copy was used.
func (b *baseFile) fetching(v Value, fetch Fetch) Fetch {
	return func(addresses ...string) ([][]byte, error) {
		all, err := fetch(addresses...)
		if _, kept := errors.AsType[*basefile.CopyError](err); kept {
			v.warn(v.get("url"), fmt.Sprintf("%s: %v", b.File, err), "")
			b.Copy, err = err.Error(), nil
		}
		for i, data := range all {
			b.Read = append(b.Read, Read{addresses[i], data})
		}
		return all, err
	}
}

// Fetched returns the contents that were read from the given URLs when c was loaded. With these
// contents, an edited version of the same configuration can be parsed without network access.
func (c *Config) Fetched(addresses ...string) (all [][]byte, err error) {
	for _, address := range addresses {
		for _, b := range c.Bases {
			if i := slices.IndexFunc(b.Read, func(r Read) bool { return r.Address == address }); i >= 0 {
				all = append(all, b.Read[i].Data)
				break
			}
		}
	}
	if len(all) < len(addresses) {
		return nil, errNoFetch
	}
	return all, nil
}

// readPinned returns a function that reads a digest or a public key, checks it, and stores it in
// *to.
func readPinned(to *string, check func(string) error) func(Value) {
	return func(v Value) {
		text, ok := v.Text()
		if !ok {
			return
		}
		if err := check(text); err != nil {
			v.Fault(v.what+": "+err.Error(), "")
			return
		}
		*to = text
	}
}

// addressProblem returns the reason why a base policy cannot be read from the URL, or the empty
// string if it can.
func addressProblem(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Fragment != "" || u.RawQuery != "":
		return `"url" must be the address of a file: a host and a path, without user, query and fragment`
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Host+":80"), u.Scheme == "http" && loopback(u.Host):
		return ""
	}
	return `"url" must begin with https://`
}

// readVerified reads a base policy and verifies it. If a digest is given, the policy must have that
// digest. If not, readVerified also reads the policy's signature and verifies it with the public
// key.
func readVerified(place, digest, key string, read Fetch) ([]byte, error) {
	places := []string{place}
	if digest == "" {
		places = append(places, basefile.SignatureOf(place))
	}
	all, err := read(places...)
	switch {
	case err != nil:
		return nil, err
	case digest != "":
		return all[0], basefile.HasDigest(all[0], digest)
	}
	return all[0], basefile.Signed(all[0], all[1], key)
}

// readFiles reads the files with the given names: a base policy and, if needed, its signature.
func (e *environment) readFiles(names ...string) (all [][]byte, err error) {
	for i, name := range names {
		data, err := e.readFile(name)
		switch {
		case err != nil && i > 0:
			return nil, fmt.Errorf("reading its signature: %w", cause(err))
		case err != nil:
			return nil, err
		}
		all = append(all, data)
	}
	return all, nil
}

// read decodes the bytes of a base policy. It adds the problems that it finds to those of the
// configuration.
func (b *baseFile) read(v Value, data []byte) {
	d := &decoder{source: &source{name: b.File}, environment: &environment{closed: true}, visit: v.visit}
	root := d.read(data)
	if root == nil && len(d.errs) == 0 {
		d.add(1, 1, "the base policy is empty", "")
	}
	if root != nil {
		b.root = Value{decoder: d, node: root, what: "a base policy"}
		b.decode()
	}
	v.errs, v.warns = append(v.errs, d.errs...), append(v.warns, d.warns...)
}

func (b *baseFile) decode() {
	b.scalars, b.Default, b.Mode = newLayers(), "allow", "enforce"
	ok := b.root.Fields(Keys{
		"version": readVersion,
		"base":    b.readIdentity,
		"rules":   into(&b.Rules, readRules),
		"nets":    into(&b.Nets, readNets),
		"default": into(&b.Default, oneOf([]string{"allow", "deny"})),
		"mode":    into(&b.Mode, oneOf([]string{"enforce", "shadow"})),
		"shell":   func(v Value) { readShell(&b.settings.Shell)(v.named("shell of a base")) },
		"pinning": func(v Value) {
			v.named("pinning of a base").Fields(Keys{"mode": into(&b.settings.Pinning.Mode, oneOf(pinningModes))})
		},
		"approval": func(v Value) {
			v.named("approval of a base").Fields(Keys{
				"channels": into(&b.settings.Approval.Channels, readChannels),
				"mask":     into(&b.settings.Approval.Mask, nonEmpty(listOf(checked(checkNotEmpty, checkMask)))),
				"ignore":   into(&b.settings.Approval.Ignore, nonEmpty(listOf(checked(checkNotEmpty, checkIgnore)))),
				"grants":   into(&b.settings.Approval.Grants, readGrants),
				"self":     into(&b.settings.Approval.Self, Value.Flag),
				"expire":   b.scalars.scalar("approval.expire"),
				"cooldown": b.scalars.scalar("approval.cooldown"),
			})
		},
	})
	if ok {
		b.root.needs("base")
	}
}

func (b *baseFile) readIdentity(v Value) {
	v.named("the name of a base").Fields(Keys{
		"name":    into(&b.Name, checked(checkSessionName)),
		"version": into(&b.Version, whole(1, 1<<31-1)),
	})
	v.named(`"base"`).needs("name", "version")
}

// extend inserts the rules and nets of the base policies before those of c, and applies the
// settings that c inherits.
func (c *Config) extend(root Value, bases []*baseFile, l *layers) {
	var rules []RuleText
	var nets []Net
	active := []string{}
	names := map[string]Position{}
	for _, b := range bases {
		if first, twice := names[b.Name]; twice && b.Name != "" {
			root.faultAtPosition(b.Entry, fmt.Sprintf("the base policy %q is listed twice in extends", b.Name), firstAt(first))
		}
		names[b.Name] = b.Entry
		rules, nets, c.Bases = append(rules, b.Rules...), append(nets, b.Nets...), append(c.Bases, b.Base)
		for i := range b.Nets {
			active = append(active, b.Nets[i].Name)
		}
		c.inherit(root, b, l)
	}
	if c.Active != nil && len(bases) > 0 { // the nets of base policies stay active even if "active" does not list them
		c.Active = append(active, c.Active...)
	}
	c.Rules, c.Nets = append(rules, c.Rules...), append(nets, c.Nets...)
	if len(bases) > 0 {
		root.uniqueNets(c.Nets)
	}
}

// inherit copies from a base policy the settings that the configuration does not set.
func (c *Config) inherit(root Value, b *baseFile, l *layers) {
	if b.Default == "deny" && root.get("default") == nil {
		c.Default = "deny"
	}
	if b.scalars == nil {
		return
	}
	a, of, ours := &c.Approval, &b.settings.Approval, root.get("approval")
	for _, s := range baseScalars {
		if name := "approval." + s.key; b.scalars.given[name] && !l.given[name] {
			l.values.SetDefault(name, b.scalars.values.GetString(name))
		}
	}
	c.Shell.Doubt = cmp.Or(c.Shell.Doubt, b.settings.Shell.Doubt)
	c.Shell.Pipefail = cmp.Or(c.Shell.Pipefail, b.settings.Shell.Pipefail)
	if root.get("shell").get("strict") == nil {
		c.Shell.Strict = b.settings.Shell.Strict
	}
	if a.Channels == nil {
		a.Channels = of.Channels
	}
	if a.Ignore == nil {
		a.Ignore = of.Ignore
	}
	if ours.get("grants") == nil && of.Grants != 0 {
		a.Grants = of.Grants
	}
	a.Mask = list.Add(a.Mask, of.Mask...)
	c.Pinning.Mode = cmp.Or(c.Pinning.Mode, b.settings.Pinning.Mode)
}

// checkRequired returns an error unless bases contains all base policies required by o.Require and
// PETRIGATE_REQUIRE_BASE.
func (o Options) checkRequired(file string, bases []Base) error {
	if o.Partial {
		return nil
	}
	all := slices.Clone(o.Require)
	if text, ok := o.lookup("PETRIGATE_REQUIRE_BASE"); ok {
		all = append(all, strings.Fields(text)...)
	}
	for _, text := range all {
		d, err := basefile.Demanded(text)
		if err != nil {
			return Error{File: file, Msg: fmt.Sprintf("cannot parse the required base policy %q: %v", text, err), Hint: "write a digest, or [NAME[@VERSION]=]KEY, in --require-base or PETRIGATE_REQUIRE_BASE"}
		}
		met := func(b Base) bool {
			return d.Met(basefile.Seen{Key: b.Key, Name: b.Name, Version: b.Version, Digest: b.Digest})
		}
		if !slices.ContainsFunc(bases, met) {
			return Error{File: file, Msg: fmt.Sprintf("the configuration does not extend the required base policy %v", d), Hint: "list it in extends: --require-base or PETRIGATE_REQUIRE_BASE requires it"}
		}
	}
	return nil
}

// checkNarrows reports settings that are weaker than those of a base policy. It does not compare
// nets; package policydiff does.
func (c *Config) checkNarrows(root Value, b *baseFile, l *layers) {
	weaker := func(n *node, key, ours, theirs string) {
		root.faultAt(n, fmt.Sprintf("%s %s is weaker than the %s of the base policy %q", key, ours, theirs, b.Name), "a configuration may only narrow what it extends")
	}
	if b.scalars == nil { // the base policy could not be read
		return
	}
	if c.Mode == "shadow" && b.Mode != "shadow" {
		weaker(root.get("mode"), "mode", "shadow", "enforce")
	}
	if c.Default == "allow" && b.Default == "deny" {
		weaker(root.get("default"), "default", "allow", "deny")
	}
	if of := b.settings.Shell.Doubt; of != "" && slices.Index(shellDoubts, cmp.Or(c.Shell.Doubt, "refuse")) < slices.Index(shellDoubts, of) {
		weaker(root.get("shell").get("doubt"), "shell.doubt", c.Shell.Doubt, of)
	}
	if strict := root.get("shell").get("strict"); b.settings.Shell.Strict && !c.Shell.Strict && strict != nil {
		weaker(strict, "shell.strict", "false", "true")
	}
	ours, of := root.get("approval"), &b.settings.Approval
	if ofGrants, grants := grantLimit(of.Grants), grantLimit(c.Approval.Grants); of.Grants != 0 && grants > ofGrants {
		weaker(ours.get("grants"), "approval.grants", grants.String(), ofGrants.String())
	}
	if self := b.root.get("approval").get("self"); self != nil && c.Approval.Self && !of.Self {
		weaker(ours.get("self"), "approval.self", "true", "false")
	}
	for _, channel := range c.Approval.Channels {
		if of.Channels != nil && !slices.Contains(of.Channels, channel) {
			weaker(ours.get("channels"), "approval.channels", channel, strings.Join(of.Channels, ", "))
		}
	}
	for _, field := range c.Approval.Ignore {
		if of.Ignore != nil && !slices.Contains(of.Ignore, field) {
			weaker(ours.get("ignore"), "approval.ignore", field, strings.Join(of.Ignore, ", "))
		}
	}
	if mode := b.settings.Pinning.Mode; slices.Index(pinningModes, c.Pinning.Mode) < slices.Index(pinningModes, mode) {
		weaker(root.get("pinning").get("mode"), "pinning.mode", strconv.Quote(c.Pinning.Mode), mode)
	}
	for _, s := range baseScalars {
		name := "approval." + s.key
		mine, _ := duration(l.values.GetString(name))
		base, _ := duration(b.scalars.values.GetString(name))
		if b.scalars.given[name] && (mine > base && !s.stricterIfHigher || mine < base && s.stricterIfHigher) {
			weaker(l.set[name], name, mine.String(), base.String())
		}
	}
}
