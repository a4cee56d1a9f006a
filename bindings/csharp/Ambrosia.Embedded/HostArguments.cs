using Ambrosia.Coordinator.Replica;
using Ambrosia.Protocol;

namespace Ambrosia;

/// <summary>Turns a host's command line into that of each of its coordinators, and checks it.</summary>
internal static class HostArguments
{
    private const string Log = "--log";

    /// <summary>Returns the same options with the log in the directory of one instance.</summary>
    internal static string[] Below(string[] args, string instance)
    {
        if (!Names.IsValid(instance))
            throw new ArgumentException(
                $"'{instance}' is no name for an instance: 1 to 63 letters, digits, '_' or '-', beginning with a letter or digit.",
                nameof(instance));
        string[] own = [.. args];
        for (int i = 0; i < own.Length; i++)
        {
            if (own[i] == Log && i + 1 < own.Length && own[i + 1].Length > 0) own[i + 1] = Path.Combine(own[i + 1], instance);
            else if (own[i].StartsWith(Log + "=", StringComparison.Ordinal) || own[i].StartsWith(Log + ":", StringComparison.Ordinal))
                own[i] = Path.Combine(own[i], instance);
        }
        return own;
    }

    /// <summary>Says which option a coordinator that shares its process cannot have; null if there is none.</summary>
    /// <param name="instance">Name that the program gives; null if the options say it.</param>
    internal static string? WhatIsWrong(CoordinatorOptions options, string? instance, int immortals)
    {
        if (options.App.Count > 0) return "the app is this process: give no program behind --";
        if (instance is not null && options.Instance != instance)
            return $"--instance {options.Instance} names one of {immortals} immortals whose names the program gives; leave it out";
        if (immortals > 1 && options.AppSocket is not null)
            return "--app-socket is for one immortal, and this process runs several; leave it out";
        return null;
    }
}
