namespace Ambrosia.Tools.Contracts;

/// <summary>
/// Compares what two builds offer, and finds what callers of the old one, or messages in its logs, would meet in the new one. What may
/// change is docs/contract.md C1.8; one rule is stricter, since a parameter without a default is silently zero for every old caller.
/// </summary>
internal sealed class ContractComparison
{
    private readonly ContractModel _old, _new;
    private readonly List<ContractBreak> _breaks = [];
    private readonly List<ContractAddition> _additions = [];

    private ContractComparison(ContractModel old, ContractModel @new)
    {
        _old = old;
        _new = @new;
    }

    public static ContractReport Compare(ContractModel old, ContractModel @new)
    {
        var comparison = new ContractComparison(old, @new);
        comparison.CompareContracts();
        new TypeComparison(old, @new, comparison.Break, comparison.Added).Run();
        return new ContractReport(comparison._breaks, comparison._additions);
    }

    private void Break(string place, string reason, string mend) => _breaks.Add(new ContractBreak(place, reason, mend));

    private void Added(string place, string what) => _additions.Add(new ContractAddition(place, what));

    private void CompareContracts()
    {
        var taken = new HashSet<ContractRow>(ReferenceEqualityComparer.Instance);
        var pairs = new List<(ContractRow Old, ContractRow? New)>();
        foreach (ContractRow contract in _old.Contracts)
            pairs.Add((contract, Take(_new.Contracts.FirstOrDefault(each => each.FullName == contract.FullName), taken)));
        for (int i = 0; i < pairs.Count; i++) // the same name first, then what it may have become
            if (pairs[i].New is null) pairs[i] = (pairs[i].Old, Take(SuccessorOf(pairs[i].Old, taken), taken));
        foreach ((ContractRow old, ContractRow? @new) in pairs) CompareContract(old, @new);
        foreach (ContractRow contract in _new.Contracts.Where(each => !taken.Contains(each))) Added(contract.FullName, "contract added");
    }

    private static ContractRow? Take(ContractRow? contract, HashSet<ContractRow> taken)
    {
        if (contract is not null) taken.Add(contract);
        return contract;
    }

    /// <summary>A contract in another namespace is the same to its callers, and one that shares ids or most names was renamed.</summary>
    private ContractRow? SuccessorOf(ContractRow old, HashSet<ContractRow> taken)
    {
        ContractRow[] free = [
            .. _new.Contracts.Where(each => !taken.Contains(each) && _old.Contracts.All(other => other.FullName != each.FullName))];
        return free.FirstOrDefault(each => each.Name == old.Name)
            ?? free.FirstOrDefault(each => each.Methods.Any(method => old.Methods.Any(other => other.Id == method.Id)))
            ?? free.FirstOrDefault(each => old.Methods.Count > 0
                && each.Methods.Count(method => old.Methods.Any(other => other.Name == method.Name)) * 2 > old.Methods.Count);
    }

    private void CompareContract(ContractRow old, ContractRow? @new)
    {
        if (@new is null)
        {
            Break(old.FullName, "the contract is gone: its callers, and messages in the log, find none of its methods",
                "keep it until no caller and no log has it any more");
            return;
        }
        if (old.FullName != @new.FullName) Added(old.FullName, $"contract renamed to {@new.FullName}");
        var renumbered = new HashSet<MethodRow>(ReferenceEqualityComparer.Instance);
        foreach (MethodRow method in old.Methods) CompareMethod(old, @new, method, renumbered);
        foreach (MethodRow method in @new.Methods)
            if (!renumbered.Contains(method) && old.Methods.All(other => other.Id != method.Id)) Added($"{@new.FullName}.{method.Name}", "method added");
    }

    /// <param name="renumbered">It gets the method of the new build that is this one under another id.</param>
    private void CompareMethod(ContractRow oldContract, ContractRow newContract, MethodRow old, HashSet<MethodRow> renumbered)
    {
        string place = $"{oldContract.FullName}.{old.Name}";
        if (newContract.Methods.FirstOrDefault(each => each.Id == old.Id) is { } same)
        {
            if (same.Name != old.Name) Added(place, $"method renamed to {same.Name}; its id stays");
            CompareFlags(place, old, same);
            CompareResult(place, old, same);
            CompareParameters(place, old, same);
            return;
        }
        if (RenumberedOf(oldContract, newContract, old) is not { } renamed)
        {
            Break(place, $"the method is gone: a call with its id {old.Id} finds nothing", "keep it until no caller and no log has it any more");
            return;
        }
        renumbered.Add(renamed);
        string became = renamed.Name == old.Name && newContract.Name == oldContract.Name ? ""
            : $" (it seems to be {newContract.Name}.{renamed.Name} now)";
        Break(place, $"the method's id was {old.Id} and is {renamed.Id}{became}: callers and the log say {old.Id}",
            MendOfId(oldContract, old));
    }

    /// <summary>Returns what a method has become that has lost its id: that of its name, or the only one that is like it.</summary>
    private static MethodRow? RenumberedOf(ContractRow oldContract, ContractRow newContract, MethodRow old)
    {
        MethodRow[] free = [.. newContract.Methods.Where(each => oldContract.Methods.All(other => other.Id != each.Id))];
        if (free.FirstOrDefault(each => each.Name == old.Name) is { } same) return same;
        MethodRow[] alike = [
            .. free.Where(each => each.Signature == old.Signature && oldContract.Methods.All(other => other.Name != each.Name))];
        return alike is [var only] ? only : null;
    }

    /// <summary>A given id can be given again. A computed one is of the names, and no attribute can state it (protocol P4.5).</summary>
    private static string MendOfId(ContractRow contract, MethodRow method) => method.Id < MethodRow.ComputedMin
        ? $"[MethodId({method.Id})] at the method keeps its id, whatever its name is"
        : $"keep the names {contract.Name}.{method.Name}, of which the id is made, and no [MethodId] at it; or add the new method beside it. "
            + "Only a method that had [MethodId(n)] from its beginning can be renamed";

    private void CompareFlags(string place, MethodRow old, MethodRow @new)
    {
        Flag("impulse", "[ImpulseHandler]", old.IsImpulse, @new.IsImpulse);
        Flag("query", "[Query]", old.IsQuery, @new.IsQuery);
        Flag("raw", "one parameter of plain bytes", old.IsRaw, @new.IsRaw);
        Flag("rawResult", "a result of plain bytes", old.IsResultRaw, @new.IsResultRaw);

        void Flag(string name, string source, bool was, bool isNow)
        {
            if (was == isNow) return;
            Break(place,
                $"'{name}' was {(was ? "set" : "not set")} and is {(isNow ? "set" : "not set")} now: callers and the log handle it otherwise",
                $"{(was ? "restore" : "remove")} {source}, or add a new method beside it");
        }
    }

    private void CompareResult(string place, MethodRow old, MethodRow @new)
    {
        if (old.Result == @new.Result) return;
        Break($"{place} result", $"it was {old.Result ?? "none"} and is {@new.Result ?? "none"}: callers and the log read the former",
            "restore the type, or add a new method beside it");
    }

    private void CompareParameters(string place, MethodRow old, MethodRow @new)
    {
        for (int i = 0; i < old.Parameters.Count; i++)
        {
            ParameterRow was = old.Parameters[i];
            string at = $"{place} parameter {i + 1} '{was.Name}'";
            int moved = IndexOf(@new, was.Name);
            if (moved >= 0 && moved != i)
            {
                Break(at, $"it is parameter {moved + 1} now: arguments have places, not names", "restore the order; new parameters come behind the others");
            }
            else if (moved < 0 && (i >= @new.Parameters.Count || IndexOf(old, @new.Parameters[i].Name) >= 0))
            {
                Break(at, "it is gone: what callers and the log give is lost", "restore it; it may be ignored");
            }
            else
            {
                CompareParameter(at, was, @new.Parameters[i]);
            }
        }
        foreach (ParameterRow parameter in @new.Parameters.Skip(old.Parameters.Count))
        {
            string at = $"{place} parameter '{parameter.Name}'";
            if (IndexOf(old, parameter.Name) >= 0) continue; // it has moved, which was said above
            if (parameter.MayBeMissing) Added(at, "parameter added, with a default");
            else
                Break(at, "it is new and has no default: for callers and messages of before it is zero or empty, which nobody has said",
                    "give it a default");
        }
    }

    private static int IndexOf(MethodRow method, string parameter)
    {
        for (int i = 0; i < method.Parameters.Count; i++)
            if (method.Parameters[i].Name == parameter) return i;
        return -1;
    }

    private void CompareParameter(string at, ParameterRow old, ParameterRow @new)
    {
        if (old.Type != @new.Type)
            Break(at, $"its type was {old.Type} and is {@new.Type}: arguments of callers and of the log do not fit",
                "restore the type, or add a further parameter with a default behind the others");
        if (old.MayBeMissing && !@new.MayBeMissing)
            Break(at, "it has no default any more: where callers and the log leave it out, it is zero or empty now", "restore the default");
        else if (old.Default != @new.Default || old.MayBeMissing != @new.MayBeMissing)
            Added(at, "default changed");
        if (old.Name != @new.Name) Added(at, $"parameter renamed to '{@new.Name}'");
    }
}
