package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/petrigate/petrigate/internal/text"
)

// addArguments treats each of a command's arguments as the value of --rules, --net or --config,
// depending on the file. For a directory, it uses the file petrigate.yaml in the directory or,
// without one, all files in it that are named *.rules, *.net.yaml or *.net.json.
func (f *policyFlags) addArguments(c *cobra.Command, files []string) error {
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return usage("no such file: %q", file)
		case err == nil && info.IsDir():
			err = f.folder(c, file)
		default:
			err = f.file(c, file)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (f *policyFlags) file(c *cobra.Command, file string) error {
	switch ext := filepath.Ext(file); {
	case ext == ".rules":
		f.rules = append(f.rules, file)
	case isNet(file):
		f.nets = append(f.nets, file)
	case isData(ext):
		return f.configure(c, file)
	default:
		return usage("%q is neither rules (.rules) nor a net or a configuration (.yaml, .json)", file)
	}
	return nil
}

// configure treats an argument as the value of --config.
func (f *policyFlags) configure(c *cobra.Command, file string) error {
	if f.path != "" && f.path != file {
		return usage("%s accepts one configuration, not both %s and %s", c.Name(), f.path, file)
	}
	f.path = file
	return nil
}

func (f *policyFlags) folder(c *cobra.Command, folder string) error {
	if file := configIn(folder); file != "" {
		f.found = f.path != file
		return f.configure(c, file)
	}
	found := false
	for _, pattern := range []string{"*.rules", "*.net.yaml", "*.net.json"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return err
		}
		for _, file := range files {
			found = true
			if err := f.file(c, file); err != nil {
				return err
			}
		}
	}
	if !found {
		return usage("%q contains no petrigate.yaml, *.rules or *.net.yaml", folder)
	}
	return nil
}

// configIn returns the path of the configuration in a directory, or "" if it has none.
func configIn(folder string) string {
	file := filepath.Join(folder, "petrigate.yaml")
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}

var (
	ofConfig = regexp.MustCompile(`(?m)^\s*\{?\s*["']?(mcpServers|servers|context_servers|version)["']?\s*:`)
	ofNet    = regexp.MustCompile(`(?m)^- |^\s*(- |\{)?\s*["']?(places|transitions|nets)["']?\s*:`)
)

// isNet reports whether a file contains nets. If the file name is not conclusive, isNet looks at
// the keys in the file. It ignores errors in the file, which the parser will report later.
func isNet(file string) bool {
	ext := filepath.Ext(file)
	if ext == ".pnml" || filepath.Ext(strings.TrimSuffix(file, ext)) == ".net" {
		return true
	}
	if !isData(ext) {
		return false
	}
	src, err := os.ReadFile(file)
	return err == nil && !ofConfig.Match(src) && ofNet.Match(src)
}

// isData reports whether ext is a file extension for YAML or JSON.
func isData(ext string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json", ".jsonc"}, ext)
}

// expandDirectories replaces each directory in paths with the rules files in it and in its
// subdirectories, skipping hidden subdirectories. Paths of files are left unchanged.
func expandDirectories(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			all = append(all, path) // the error is reported when the path is read
			continue
		}
		known := len(all)
		err = filepath.WalkDir(path, func(file string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && file != path && strings.HasPrefix(entry.Name(), "."):
				return filepath.SkipDir
			case !entry.IsDir() && filepath.Ext(file) == ".rules":
				all = append(all, file)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("looking for files of rules in %s: %w", path, text.Innermost(err))
		}
		if len(all) == known {
			return nil, fmt.Errorf("no *.rules file in %s or below it", path)
		}
	}
	return all, nil
}
