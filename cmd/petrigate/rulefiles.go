package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// onlyRules wants that the arguments of a verb are files of rules: the other
// parts of a policy have flags.
func onlyRules(files []string) error {
	for _, file := range files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return usage("there is no file %q", file)
		}
		if filepath.Ext(file) != ".rules" {
			return usage("%q is no file of rules; name a configuration by --config, and a net by --net", file)
		}
	}
	return nil
}

// below gives for each folder the files of rules in it and below it, and for
// anything else itself. Hidden folders are left out.
func below(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() {
			all = append(all, path) // reading it says what is wrong
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
			return nil, fmt.Errorf("looking for files of rules in %s: %w", path, innermost(err))
		}
		if len(all) == known {
			return nil, fmt.Errorf("there is no file *.rules in %s or below it", path)
		}
	}
	return all, nil
}
