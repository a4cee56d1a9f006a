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
    internal const string ContractStep = "Contract", ClientStep = "Client", ImmortalStep = "Immortal", DataStep = "Data", ManifestStep = "Manifest", SuspendableStep = "Suspendable", StateStep = "State";

    public void Initialize(IncrementalGeneratorInitializationContext context)
    {
        IncrementalValuesProvider<Found<ImmortalModel>> immortals = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ImmortalReader.Mentions(node), ImmortalReader.Read)
            .Where(static found => found is not null)!;
        IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> foundContracts = Contracts(context);
        IncrementalValuesProvider<Found<DataModel>> data = context.SyntaxProvider.ForAttributeWithMetadataName(
            "Ambrosia.DataAttribute", static (node, _) => node is TypeDeclarationSyntax, static (found, cancel) => DataReader.Read((INamedTypeSymbol)found.TargetSymbol, cancel));

        IncrementalValueProvider<EquatableArray<ContractModel>> contracts = foundContracts.Select(static (found, _) => Distinct(found));
        IncrementalValueProvider<EquatableArray<DataModel>> allData = data.Select(static (found, _) => found.Model).Where(static model => model is not null).Collect()
            .Select(static (models, _) => new EquatableArray<DataModel>(models.OrderBy(model => model!.Schema, System.StringComparer.Ordinal)!));

        context.RegisterSourceOutput(
            contracts.SelectMany(static (all, _) => all).WithTrackingName(ContractStep),
            static (output, contract) => Add(output, $"{contract.FullName}Proxy", ProxySource.Of(contract)));
        IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> called = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ClientReader.Mentions(node), ClientReader.Read)
            .Where(static found => found is not null)!.Collect<Found<ContractModel>>();
        context.RegisterSourceOutput(
            called.Select(static (found, _) => Distinct(found)).SelectMany(static (all, _) => all).WithTrackingName(ClientStep),
            static (output, contract) => Add(output, $"{contract.FullName}ClientCalls", ClientSource.Of(contract)));
        context.RegisterSourceOutput(
            immortals.Select(static (found, _) => found.Model).Where(static model => model is not null).WithTrackingName(ImmortalStep),
            static (output, immortal) => Add(output, $"{immortal!.FullName}.Dispatch", DispatchSource.Of(immortal)));
        context.RegisterSourceOutput(
            allData.SelectMany(static (all, _) => all).WithTrackingName(DataStep),
            static (output, model) => Add(output, $"{model.Schema}.DataCodec", DataSource.Of(model)));
        context.RegisterSourceOutput(
            contracts.Combine(allData).Combine(context.CompilationProvider.Select(static (compilation, _) => compilation.AssemblyName ?? "")).WithTrackingName(ManifestStep),
            static (output, all) => AddManifest(output, all.Right, all.Left.Left, all.Left.Right));
        IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> allContracts = foundContracts.Combine(called).Select(static (both, _) => both.Left.AddRange(both.Right));
        IncrementalValueProvider<EquatableArray<SuspendableModel>> suspendable = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => SuspendableReader.Mentions(node), SuspendableReader.Read)
            .Where(static found => found is not null).Collect().Select(static (all, _) => new EquatableArray<SuspendableModel>(all!)).WithTrackingName(SuspendableStep);
        context.RegisterSourceOutput(suspendable, static (output, all) =>
        {
            if (all.Count > 0) Add(output, "Suspendable", SuspendableSource.Of(all));
        });
        WriteState(context, suspendable);
        Report(context, immortals.Collect(), allContracts, data.Collect());
    }

    /// <summary>Which types are state is asked of values, so an edit that adds no field to any of them writes nothing again.</summary>
    private static void WriteState(IncrementalGeneratorInitializationContext context, IncrementalValueProvider<EquatableArray<SuspendableModel>> suspendable)
    {
        IncrementalValueProvider<ImmutableArray<StateModel?>> types = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => StateReader.Mentions(node), StateReader.Read)
            .Where(static model => model is not null).Collect();
        IncrementalValueProvider<EquatableArray<StateModel>> state = types.Combine(suspendable)
            .Select(static (all, _) => StateReach.Of(all.Left!, all.Right.SelectMany(static method => method.Kept)));
        context.RegisterSourceOutput(
            state.SelectMany(static (all, _) => all).WithTrackingName(StateStep),
            static (output, model) => Add(output, $"{model.Id.Replace("global::", "").Replace('<', '{').Replace('>', '}')}.State", StateSource.Of(model)));
        context.RegisterSourceOutput(state, static (output, all) =>
        {
            if (all.Count > 0) Add(output, "StateRegistry", StateSource.RegistryOf(all));
        });
    }

    /// <summary>Found by an immortal that implements it, by a mark, or by use.</summary>
    private static IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> Contracts(IncrementalGeneratorInitializationContext context)
    {
        IncrementalValuesProvider<Found<ContractModel>> implemented = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ImmortalReader.Mentions(node), ImmortalReader.ReadContract)
            .Where(static found => found is not null)!;
        IncrementalValuesProvider<Found<ContractModel>> marked = context.SyntaxProvider.ForAttributeWithMetadataName(
            "Ambrosia.ContractAttribute", static (node, _) => node is InterfaceDeclarationSyntax, static (found, cancel) => ContractReader.Read((INamedTypeSymbol)found.TargetSymbol, cancel));
        IncrementalValuesProvider<Found<ContractModel>> used = context.SyntaxProvider
            .CreateSyntaxProvider(static (node, _) => ReferenceReader.Mentions(node), ReferenceReader.Read)
            .Where(static found => found is not null)!;
        return implemented.Collect().Combine(marked.Collect()).Combine(used.Collect())
            .Select(static (all, _) => all.Left.Left.AddRange(all.Left.Right).AddRange(all.Right));
    }

    private static EquatableArray<ContractModel> Distinct(ImmutableArray<Found<ContractModel>> found)
    {
        var byName = new SortedDictionary<string, ContractModel>(System.StringComparer.Ordinal);
        foreach (Found<ContractModel> each in found)
            if (each.Model is { } model) byName[model.FullName] = model;
        return new EquatableArray<ContractModel>(byName.Values);
    }

    private static void Report(
        IncrementalGeneratorInitializationContext context, IncrementalValueProvider<ImmutableArray<Found<ImmortalModel>>> immortals,
        IncrementalValueProvider<ImmutableArray<Found<ContractModel>>> contracts, IncrementalValueProvider<ImmutableArray<Found<DataModel>>> data)
    {
        IncrementalValueProvider<EquatableArray<DiagnosticInfo>> diagnostics = immortals.Combine(contracts).Combine(data).Select(static (all, _) =>
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

    private static void AddManifest(SourceProductionContext output, string assembly, EquatableArray<ContractModel> contracts, EquatableArray<DataModel> data)
    {
        if (contracts.Count == 0 && data.Count == 0) return;
        Add(output, "ContractManifest", Manifest.SourceOf(assembly, contracts, data));
    }

    /// <summary>The @ of names that are keywords is no character of a file's name.</summary>
    private static void Add(SourceProductionContext output, string name, string source) => output.AddSource($"{name.Replace("@", "")}.g.cs", SourceText.From(source, Encoding.UTF8));
}
