namespace ImmortalCoordinator;

/// <summary>The program behind --, looked up before anything is made on disk.</summary>
internal static class AppCommand
{
    /// <summary>
    /// What is wrong with the command, or null. Looks where the start of a process looks: a path as it is, a name beside this
    /// program, here, and in PATH.
    /// </summary>
    public static string? WhatIsWrong(IReadOnlyList<string> command)
    {
        if (command.Count == 0) return null;
        string program = command[0];
        bool isThere = program.Contains(Path.DirectorySeparatorChar) ? File.Exists(program) : program.Length > 0 && IsInAFolder(program);
        return isThere ? null : $"there is no program '{program}' to start as the app; give its path, and its arguments, behind --";
    }

    private static bool IsInAFolder(string program)
    {
        if (IsIn(AppContext.BaseDirectory, program) || IsIn(Environment.CurrentDirectory, program)) return true;
        foreach (string folder in (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator,
            StringSplitOptions.RemoveEmptyEntries))
            if (IsIn(folder, program)) return true;
        return false;
    }

    private static bool IsIn(string folder, string program) =>
        File.Exists(Path.Combine(folder, program)) || (OperatingSystem.IsWindows() && File.Exists(Path.Combine(folder, program + ".exe")));
}
