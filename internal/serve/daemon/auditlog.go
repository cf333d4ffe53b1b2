package daemon

import (
	"os"
	"path/filepath"

	"github.com/petrigate/petrigate/internal/operator"
	"github.com/petrigate/petrigate/internal/runtime/audit"
)

// openAudit opens the audit log. If records at the end of the log have been lost, openAudit logs
// this as an error.
func (d *Daemon) openAudit() (*audit.Log, error) {
	c := d.config.Audit
	log, err := audit.Open(c.File, audit.Rotation{Size: c.Rotate.Size, Keep: c.Rotate.Keep, Failed: func(err error) {
		d.log.Error("the audit log cannot be rotated and keeps growing", "file", c.File, "error", err)
	}})
	if err != nil {
		return nil, err
	}
	if log.Headless() {
		d.log.Warn("cannot write the head next to the audit log: a removal of the latest records will not be detected", "file", c.File+audit.HeadSuffix)
	}
	if missing := log.Cut(); missing != "" {
		d.log.Error("the audit log was changed since it was written", "file", c.File, "missing", missing)
	}
	return log, nil
}

// auditInfo describes the audit log. It returns nil if no log is configured.
func (d *Daemon) auditInfo() *operator.AuditInfo {
	if d.audit == nil {
		return nil
	}
	info := &operator.AuditInfo{File: d.config.Audit.File}
	if file, err := filepath.Abs(info.File); err == nil {
		info.File = file
	}
	var fault error
	if info.Records, fault = d.audit.State(); fault != nil {
		info.Error = d.secrets.Replace(fault.Error())
	}
	aside, err := audit.RotatedFiles(info.File)
	if info.Aside = len(aside); err != nil || info.Aside == 0 {
		return info
	}
	if last, err := os.Stat(aside[len(aside)-1]); err == nil {
		at := last.ModTime() // the file was rotated right after its last record was written
		info.Rotated = &at
	}
	return info
}
