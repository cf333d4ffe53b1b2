//go:build !linux

package main

import "github.com/rogpeppe/go-internal/testscript"

func hasUserManager() bool { return false }

func userManager(ts *testscript.TestScript, _ bool, _ []string) { ts.Fatalf("no systemd") }
