package main

import (
	"fmt"
	"os"
	"syscall"
)

// flush writes the buffered data of f to the disk.
func flush(f *os.File) error {
	for {
		if err := syscall.Fdatasync(int(f.Fd())); err != syscall.EINTR {
			return err
		}
	}
}

// flushAll writes all data buffered by the system to the disks.
func flushAll() { syscall.Sync() }

// fileSystem returns the type of the file system that contains dir.
func fileSystem(dir string) (string, error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return "", err
	}
	kind := fmt.Sprintf("%x", s.Type)
	names := map[string]string{"1021994": "tmpfs", "858458f6": "ramfs", "ef53": "ext4", "58465342": "xfs", "9123683e": "btrfs", "794c7630": "overlay"}
	if name, ok := names[kind]; ok {
		return name, nil
	}
	return "file system " + kind, nil
}
