package service

// ManagerOf returns the service manager for the given system, or nil if the system is not
// supported.
func ManagerOf(s System) *Manager {
	switch s.OS {
	case "linux":
		return systemd(s)
	case "darwin":
		return launchd(s)
	case "windows":
		return taskScheduler(s)
	}
	return nil
}
