package service

// ManagerOf returns the manager of a system, or nil if petrigate supports none.
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
