package daemon

import (
	"github.com/petrigate/petrigate/config"
	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/proxy"
)

// PinsPath returns the path of the file that stores the accepted tool definitions. If none is
// configured, the path is derived from the path of the configuration file.
func PinsPath(c *config.Config) (string, error) {
	if c.Pinning.File != "" {
		return c.Pinning.File, nil
	}
	return stateFile(c, ".tools.json")
}

// ToolChanges returns the tools whose current definition has not been accepted.
func (d *Daemon) ToolChanges() []operator.ToolChange { return d.pins.Changes() }

// AcceptTool accepts the current definition of a tool. The hash must equal the hash in the
// [operator.ToolChange], to prove that the definition has not changed since the person read it.
func (d *Daemon) AcceptTool(canonical, hash string, a operator.Actor) error {
	return d.pins.Accept(canonical, hash, a)
}

// openPins opens the store of accepted tool definitions. It returns nil if tools are not pinned.
// The database must already be open.
func (d *Daemon) openPins() (*proxy.Pins, error) {
	mode, file := d.config.Pinning.Mode, d.config.Pinning.File
	if mode == "off" || file == "" && d.file == "" {
		return nil, nil
	}
	var pins *proxy.Pins
	path, err := PinsPath(d.config)
	switch {
	case file == "" && d.database != nil && d.database.driver == "postgres":
		// Import accepted definitions from the file for tools that have none in the database. If
		// the state directory is unknown, path is empty and nothing is imported.
		pins, err = proxy.SharedPins(d.database.LateBackend, path, mode == "enforce", d.log)
	case err != nil && mode == "warn":
		d.log.Warn("changes of tools are not detected: there is no place to store accepted definitions", "error", err)
		return nil, nil
	case err == nil:
		pins, err = proxy.OpenPins(path, mode == "enforce")
	}
	if err != nil {
		return nil, &InvalidError{err}
	}
	return pins, nil
}
