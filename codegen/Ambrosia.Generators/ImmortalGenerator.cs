// The wiring: what is looked for in the syntax, which reader makes values of it, which writer makes code of the values.
// Everything between readers and writers is compared by value, so an edit that changes no contract makes no code again.
using System.Collections.Generic;
using System.Collections.Immutable;
using System.Linq;
using System.Text;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp.Syntax;
using Microsoft.CodeAnalysis.Text;

namespace Ambrosia.Generators;

/// <summary>Generates proxies for contracts, dispatch for immortals, codecs for data types and state, and the contract manifest.</summary>
[Generator(LanguageNames.CSharp)]
public sealed class ImmortalGenerator : IIncrementalGenerator
{
    /// <summary>Names of the steps whose caching the tests watch.</summary>
    internal const string ContractStep = "Contract", ClientStep = "Client", ImmortalStep = "Immortal", DataStep = "Data",
        ManifestStep = "Manifest", SuspendableStep = "Suspendable", StateStep = "State";

    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        IncrementalValuesProvider<Found<ImmortalModel>> immortals = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ImmortalReader.Mentions(node), ImmortalReader.Read)
            .Where(static found => found is not null)!;
        IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> foundContracts = Contracts(context);
        IncrementalValuesProvider<Found<DataModel>> data = context.SyntaxProvider.ForAttributeWithMetadataName(
            "Ambrosia.DataAttribute", static (node, _) => node is TypeDeclarationSyntax,
            static (found, cancel) => DataReader.Read((INamedTypeSymbol)found.TargetSymbol, cancel));

        IncrementalValueProvider<EquatableArray<ContractModel>> contracts = foundContracts.Select(
            static (found, _) => ByName(found, static model => model.FullName));
        IncrementalValueProvider<EquatableArray<DataModel>> allData = data.Collect()
            .Select(static (found, _) => ByName(found, static model => model.Schema));

        AddEach(context, contracts, ContractStep, static contract => $"{contract.FullName}Proxy", ProxySource.Of);
        IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> called = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ClientReader.Mentions(node), ClientReader.Read)
            .Where(static found => found is not null)!.Collect<Found<ContractModel>>();
        AddEach(context, called.Select(static (found, _) => ByName(found, static model => model.FullName)), ClientStep,
            static contract => $"{contract.FullName}ClientCalls", ClientSource.Of);
        AddEach(context, immortals.Collect().Select(static (found, _) => ByName(found, static model => model.FullName)), ImmortalStep,
            static immortal => $"{immortal.FullName}.Dispatch", DispatchSource.Of);
        AddEach(context, allData, DataStep, static model => $"{model.Schema}.DataCodec", DataSource.Of);
        context.RegisterSourceOutput(
            contracts.Combine(allData)
                .Combine(context.CompilationProvider.Select(static (compilation, _) => compilation.AssemblyName ?? ""))
                .WithTrackingName(ManifestStep),
            static (output, all) => AddManifest(output, all.Right, all.Left.Left, all.Left.Right));
        IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> allContracts = foundContracts.Combine(called)
            .Select(static (both, _) => both.Left.AddRange(both.Right));
        IncrementalValueProvider<EquatableArray<SuspendableModel>> suspendable = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => SuspendableReader.Mentions(node), SuspendableReader.Read)
            .Where(static found => found is not null).Collect().Select(static (all, _) => new EquatableArray<SuspendableModel>(all!))
            .WithTrackingName(SuspendableStep);
        context.RegisterSourceOutput(suspendable, static (output, all) =>
        {
            if (all.Count > 0) Add(output, "Suspendable", SuspendableSource.Of(all));
        });
        WriteState(context, suspendable);
        Report(context, immortals.Collect(), allContracts, data.Collect());
    }

    /// <summary>Which types are state is asked of values, so an edit that adds no field to any of them writes nothing again.</summary>
    private static void WriteState(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<EquatableArray<SuspendableModel>> suspendable)
    {
        IncrementalValueProvider<ImmutableArray<StateModel?>> types = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => StateReader.Mentions(node), StateReader.Read)
            .Where(static model => model is not null).Collect();
        IncrementalValueProvider<EquatableArray<StateModel>> state = types.Combine(suspendable)
            .Select(static (all, _) => StateReach.Of(all.Left!, all.Right.SelectMany(static method => method.Kept)));
        AddEach(context, state, StateStep, static model => $"{model.Id.Replace("global::", "").Replace('<', '{').Replace('>', '}')}.State",
            StateSource.Of);
        context.RegisterSourceOutput(state, static (output, all) =>
        {
            if (all.Count > 0) Add(output, "StateRegistry", StateSource.RegistryOf(all));
        });
    }

    /// <summary>Found by an immortal that implements it, by a mark, or by use.</summary>
    private static IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> Contracts(
        IncrementalGeneratorInitializationContext context)
    {
        IncrementalValuesProvider<Found<ContractModel>> implemented = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ImmortalReader.Mentions(node), ImmortalReader.ReadContract)
            .Where(static found => found is not null)!;
        IncrementalValuesProvider<Found<ContractModel>> marked = context.SyntaxProvider.ForAttributeWithMetadataName(
            "Ambrosia.ContractAttribute", static (node, _) => node is InterfaceDeclarationSyntax,
            static (found, cancel) => ContractReader.Read((INamedTypeSymbol)found.TargetSymbol, cancel));
        IncrementalValuesProvider<Found<ContractModel>> used = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ReferenceReader.Mentions(node), ReferenceReader.Read)
            .Where(static found => found is not null)!;
        return implemented.Collect().Combine(marked.Collect()).Combine(used.Collect())
            .Select(static (all, _) => all.Left.Left.AddRange(all.Left.Right).AddRange(all.Right));
    }

    /// <summary>One model for each name, in the order of names: a class is found by each of its parts, a contract by each use.</summary>
    private static EquatableArray<T> ByName<T>(ImmutableArray<Found<T>> found, System.Func<T, string> nameOf)
        where T : class, System.IEquatable<T>
    {
        var byName = new SortedDictionary<string, T>(System.StringComparer.Ordinal);
        foreach (Found<T> each in found)
            if (each.Model is { } model) byName[nameOf(model)] = model;
        return new EquatableArray<T>(byName.Values);
    }

    /// <summary>A file for each model, made again only if that model is another.</summary>
    private static void AddEach<T>(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<EquatableArray<T>> models, string step,
        System.Func<T, string> nameOf, System.Func<T, string> sourceOf)
        where T : System.IEquatable<T> =>
        context.RegisterSourceOutput(
            models.SelectMany((all, _) => FileNames.Of(all, nameOf)).WithTrackingName(step),
            (output, file) => Add(output, file.Name, sourceOf(file.Model)));

    private static void Report(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<ImmutableArray<Found<ImmortalModel>>> immortals,
        IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> contracts,
        IncrementalValueProvider<ImmutableArray<Found<DataModel>>> data)
    {
        IncrementalValueProvider<EquatableArray<DiagnosticInfo>> diagnostics = immortals.Combine(contracts).Combine(data)
            .Select(static (all, _) =>
                new EquatableArray<DiagnosticInfo>(
                    all.Left.Left.SelectMany(found => found.Diagnostics)
                        .Concat(all.Left.Right.SelectMany(found => found.Diagnostics))
                        .Concat(all.Right.SelectMany(found => found.Diagnostics))
                        .Distinct()));
        context.RegisterSourceOutput(diagnostics, static (output, all) =>
        {
            foreach (DiagnosticInfo diagnostic in all) output.ReportDiagnostic(diagnostic.ToDiagnostic());
        });
    }

    private static void AddManifest(
        SourceProductionContext output, string assembly, EquatableArray<ContractModel> contracts, EquatableArray<DataModel> data)
    {
        if (contracts.Count == 0 && data.Count == 0) return;
        Add(output, "ContractManifest", Manifest.SourceOf(assembly, contracts, data));
    }

    private static void Add(SourceProductionContext output, string name, string source) =>
        output.AddSource($"{name}.g.cs", SourceText.From(source, Encoding.UTF8));
}
