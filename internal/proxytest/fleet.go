package proxytest

import (
	"path/filepath"
	"testing"

	"github.com/petrigate/petrigate/internal/runtime/store/journal"
	"github.com/petrigate/petrigate/proxy"
)

// A Fleet consists of several proxies that share a database and an upstream. Each proxy has a
// client.
type Fleet struct {
	t       *testing.T
	Setup   Setup
	open    func() (proxy.Database, error)
	Sites   []*Site
	Clients []*Client
}

// NewFleet starts three proxies, calling open once for each to open the database.
func NewFleet(t *testing.T, open func() (proxy.Database, error), s Setup) *Fleet {
	f := &Fleet{t: t, Setup: s, open: open}
	for range 3 {
		f.Add()
	}
	return f
}

// Add starts another proxy and returns a client connected to it.
func (f *Fleet) Add() *Client {
	f.t.Helper()
	s := f.Setup
	s.Change = func(o *proxy.Options) {
		b, err := f.open()
		if err != nil {
			f.t.Fatal(err)
		}
		f.t.Cleanup(func() { _ = b.Close() })
		if o.Database = b; len(f.Sites) > 0 {
			o.Upstreams = f.Sites[0].Options.Upstreams
		}
		if f.Setup.Change != nil {
			f.Setup.Change(o)
		}
	}
	made := Start(f.t, s)
	c := made.Connect(Legs()[2], CanAll)
	f.Sites, f.Clients = append(f.Sites, made), append(f.Clients, c)
	return c
}

// SharedDatabase returns a function that opens the same database file on every call.
func SharedDatabase(t *testing.T) func() (proxy.Database, error) {
	path := filepath.Join(t.TempDir(), "state.db")
	return func() (proxy.Database, error) {
		return journal.Open(t.Context(), journal.Options{Path: path, Sync: journal.Normal})
	}
}
