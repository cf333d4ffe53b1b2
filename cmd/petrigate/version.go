package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker in release builds.
var version = ""

// versionString returns the release version. In other builds, it returns the module version or, if
// that is unknown, "dev".
func versionString() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func newVersion(s stdio) *cobra.Command {
	c := &cobra.Command{Use: "version", Short: "Print the version", Args: cobra.NoArgs}
	return answering(c, s, "petrigate", func([]string) (any, func() error, error) {
		return versionString(), func() error {
			_, err := fmt.Fprintln(s.out, "petrigate", versionString())
			return err
		}, nil
	})
}
