namespace CRA.Catalog;

/// <summary>Opens the catalog at a place. It connects to nothing and makes nothing yet.</summary>
/// <exception cref="CatalogException">The credentials will not do.</exception>
public delegate ICatalog CatalogMaker(CatalogPlace place, CatalogAccess access);
