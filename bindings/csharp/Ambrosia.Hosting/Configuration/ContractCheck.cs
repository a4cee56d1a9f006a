using System.Reflection;
using Ambrosia.Contracts;

namespace Ambrosia.Hosting.Configuration;

/// <summary>
/// Says where the contracts of a program do not fit together: an immortal that states none, and a client of an immortal of the same program
/// that calls what that one does not have. It keeps nothing.
/// </summary>
internal static class ContractCheck
{
    internal static IEnumerable<string> Faults(IReadOnlyList<AddedImmortal> immortals, IEnumerable<AddedClient> clients)
    {
        foreach (AddedImmortal immortal in immortals)
            if (WhatIsWrong(immortal.Name, immortal.Definition.Type) is { } wrong) yield return wrong;
        foreach (AddedClient client in clients)
            if (immortals.FirstOrDefault(each => each.Name == client.Instance) is { } called
                && WhatIsWrong(client, called.Definition.Type) is { } wrong)
                yield return wrong;
    }

    /// <summary>Says why nobody could read the log of an immortal of this class; null: its contracts are stated.</summary>
    internal static string? WhatIsWrong(string name, Type immortal) => StatedContracts.Of(immortal).Count > 0 ? null
        : $"the immortal '{name}' states no contract: neither {immortal.Assembly.GetName().Name} nor what it refers to has a manifest, "
            + "which Ambrosia's generator writes; refer to the package Ambrosia in the project of the contract, without "
            + "AmbrosiaGenerator=false";

    /// <summary>Says why a client cannot call an immortal of this class; null: it can.</summary>
    internal static string? WhatIsWrong(AddedClient client, Type immortal)
    {
        if (client.Contract.IsAssignableFrom(immortal)) return null;
        string calls = $"the client {client.Contract.Name} of '{client.Instance}'";
        if (immortal.GetInterfaces().FirstOrDefault(each => each.Name == client.Contract.Name) is not { } other)
            return $"{calls} cannot call {immortal.Name}, which does not implement that contract; give AddImmortalClient the contract of "
                + "that immortal, or the name of another instance";
        HashSet<string> has = [.. other.GetMethods().Select(IdOf)];
        string[] missing = [.. client.Contract.GetMethods().Where(method => !has.Contains(IdOf(method)))
            .Select(static method => method.Name)];
        return missing.Length == 0 ? null
            : $"{calls} calls {string.Join(", ", missing)}, which the contract of {immortal.Name} in {other.Assembly.GetName().Name} does "
                + "not have; build both from one version of the contract";
    }

    /// <summary>Returns what tells methods of a contract apart (protocol P4.5).</summary>
    private static string IdOf(MethodInfo method) =>
        method.GetCustomAttribute<MethodIdAttribute>() is { } number ? $"{number.Id}" : method.Name;
}

/// <summary>Says which instance a client of the program calls, and by which contract.</summary>
internal sealed record AddedClient(string Instance, Type Contract);
